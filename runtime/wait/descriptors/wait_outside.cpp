// How a thread outside of any runtime waits for a descriptor: in poll(2), which a wake-up ends for a close or a stop.
#include <cerrno>
#include <optional>
#include <stop_token>

#include "runtime/os/io/io.hpp"
#include "runtime/os/io/wake_up.hpp"
#include "runtime/wait/descriptors/watched.hpp"
#include "runtime/wait/outside_threads.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// The wake-up ends the poll(2) of the thread if a close or a stop ends its wait.
class wait_of_thread final : public poll_wait {
 public:
  wait_of_thread(io_way way, os::wake_up& by) noexcept : poll_wait(way), wake_up_(by) {}

  bool claim_wait(poll_end by) noexcept override { return claim(static_cast<unsigned>(by)); }
  void wake(precedence) noexcept override { wake_up_.signal(); }

  bool claim(unsigned by) noexcept { return word_.claim(by); }
  unsigned winner() const noexcept { return word_.winner(); }

  void stop() noexcept {
    if (claim(waiter::stopped)) wake(precedence::in_order);
  }

  // Until an event, the time or another claimant, which has called wake when this returns.
  int wait(int descriptor, std::int64_t until) noexcept {
    for (;;) {
      const auto found = os::poll_descriptor(descriptor, way == io_way::writing, wake_up_.number(), until);
      if (found.what == os::polled::woken) {
        wake_up_.take();
        return 0;
      }
      const bool is_late = found.error == 0 && found.what == os::polled::nothing;
      if (claim(is_late ? waiter::timed_out : static_cast<unsigned>(poll_end::happened))) return found.error;
      descriptor = -1;  // another has claimed the wait, and will wake this thread
      until = never;
    }
  }

 private:
  wait_word word_;
  os::wake_up& wake_up_;
};

struct stops_thread {
  wait_of_thread& of;
  void operator()() const noexcept { of.stop(); }
};

}  // namespace

io_end wait_outside(int number, io_way way, poll_entry* entry, const wait_limits& limits) {
  const waits_outside_for_more counted;
  os::wake_up wake_up;
  const bool may_be_woken = entry || limits.stop;
  int error = may_be_woken ? wake_up.open() : 0;
  if (error != 0) return {.error = error};
  wait_of_thread here(way, wake_up);
  // Here a close finds it. What comes before the call of poll(2) ends that call at once.
  if (entry && !entry->begin_wait(here)) return {.error = EBADF};
  {
    std::optional<std::stop_callback<stops_thread>> callback;
    if (limits.stop) callback.emplace(*limits.stop, stops_thread{here});
    error = here.wait(number, limits.until);
  }
  if (entry) entry->end_wait(here);
  if (error != 0) return {.error = error};
  if (here.winner() == static_cast<unsigned>(poll_end::closed)) return {.error = EBADF};
  return {.limit = waiter::end_by(here.winner())};
}

}}}  // namespace fj::v0_4::detail
