#include "forkjoin/abi/wait_queue.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

wait_end wait_in(wait_queue& queue, std::unique_lock<os::mutex>& held, void* item, const wait_limits& limits) {
  waiter here(limits);
  wait_entry entry(here, 0, item);
  queue.push(entry);
  held.unlock();
  const wait_end end = wait_winners::end_by(here.wait());
  if (end == wait_end::served) return entry.refused ? wait_end::refused : wait_end::served;
  held.lock();
  queue.remove_if_queued(entry);
  held.unlock();
  return end;
}

}}}  // namespace fj::v0_4::detail
