#include "runtime/wait/wait_queue.hpp"

namespace fj::inline v0_1::detail {

wait_end wait_in(wait_queue& queue, std::unique_lock<os::mutex>& held, void* item, const std::stop_token* stop) {
  waiter here;
  wait_entry entry(here, 0, item);
  queue.push(entry);
  held.unlock();
  unsigned winner = 0;
  {
    const stops_wait stops(here, stop);
    winner = here.wait();
  }
  if (winner != stops_wait::stopped) return entry.refused ? wait_end::refused : wait_end::served;
  held.lock();
  queue.remove_if_queued(entry);
  held.unlock();
  return wait_end::stopped;
}

}  // namespace fj::inline v0_1::detail
