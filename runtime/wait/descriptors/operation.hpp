// What a strand does for an operation on a descriptor: it tries, and if the call would block, waits for an edge and
// tries again. poll_entry.hpp has the protocol.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "forkjoin/abi/os/compiler.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "runtime/sched/poll_entry.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

struct operation {
  /// attempt() until it does not say EAGAIN; before each further one wait(seen), which waits for an edge after that
  /// count of them. `d` is an entry with `finish`, which ends an operation.
  template <class Entry, class Attempt, class Wait>
  static io_end run(Entry& d, io_way way, Attempt attempt, Wait wait) {
    if (!d.enter()) return {.error = EBADF};
    const under_way<Entry> ends{d};
    for (;;) {
      const std::uint32_t seen = d.edges(way);
      const auto done = os::call_apart(attempt);  // it reads errno
      if (done.error != EAGAIN) return {.count = done.result, .error = done.error};
      const io_end waited = wait(seen);
      if (waited.failed()) return waited;
    }
  }

  /// Waits for an edge after `seen`, once a poller watches. `timekeeper` counts the strands that wait there.
  template <class Entry>
  static io_end wait_for_edge(Entry& d, io_way way, std::uint32_t seen, const wait_limits& limits, auto& timekeeper) {
    waiter here(limits);
    wait_of_strand wait(way, here);
    switch (d.begin_wait(wait, seen)) {
      case Entry::begun::closed:
        return {.error = EBADF};
      case Entry::begun::must_try:
        return {};
      case Entry::begun::waits:
        break;
    }
    timekeeper.begin_poll_wait();
    const unsigned winner = here.wait();
    timekeeper.end_poll_wait();
    d.end_wait(wait);
    if (winner == static_cast<unsigned>(poll_end::closed)) return {.error = EBADF};
    return {.limit = wait_winners::end_by(winner)};
  }

  /// Ends an operation: the last of a closed descriptor calls `release`, and `recycle` if the handle is gone, too.
  template <class Entry>
  static void finish(Entry& d, auto release, auto recycle) noexcept {
    for (;;) {
      switch (d.leave()) {
        case Entry::left::nothing:
          return;
        case Entry::left::must_release:
          release();
          break;
        case Entry::left::must_recycle:
          return recycle();
      }
    }
  }

 private:
  template <class Entry>
  struct under_way {
    Entry& of;
    ~under_way() { of.finish(); }
  };

  class wait_of_strand final : public poll_wait {
   public:
    wait_of_strand(io_way which, waiter& of) noexcept : poll_wait(which), of_(of) {}

    bool claim_wait(poll_end by) noexcept override { return of_.claim(static_cast<unsigned>(by)); }
    void wake(precedence its) noexcept override { of_.wake(its); }

   private:
    waiter& of_;
  };
};

}}}  // namespace fj::v0_4::detail
