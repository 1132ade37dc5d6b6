// How many more threads a runtime may start, and whether the system has refused one.
#pragma once

#include <cstdint>

#include "../base/tuning.hpp"
#include "parking.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Under the dispatcher's mutex; the count of threads in `parking` is kept in step.
template <class Machine>
class basic_thread_budget {
 public:
  basic_thread_budget(unsigned max_threads, basic_parking<Machine>& counts) noexcept
      : max_threads_(max_threads), startable_(max_threads), counts_(counts) {
    counts_.thread_available(static_cast<int>(startable_));
  }

  bool any_left() const noexcept { return startable_ > 0; }
  bool any_started() const noexcept { return started_ > 0; }
  bool any_starting() const noexcept { return starting_ > 0; }
  /// A system that has refused threads may do so again.
  bool any_refused() const noexcept { return ask_again_at_ != 0; }

  /// Before a thread is started, which takes the system some 50 us, without the mutex. False if there is none to be had.
  bool begin_start() noexcept {
    if (startable_ == 0) return false;
    --startable_;
    ++starting_;
    counts_.thread_taken();
    return true;
  }

  /// After that. If the system refused the thread it gives no more: the runtime goes on with those that there are.
  void end_start(bool has_started) noexcept {
    --starting_;
    if (has_started) {
      ++started_;
      return;
    }
    counts_.thread_taken(static_cast<int>(startable_));
    startable_ = 0;
    ask_again_at_ = Machine::now_ns() + tuning::between_refusals_ns;
  }

  /// What the system refused, for want of memory or by a limit that other threads share, it may give to a later root, as the
  /// first fork of that sees that a thread could be started.
  void ask_again() noexcept {
    const unsigned lacking = max_threads_ - started_ - starting_;
    if (startable_ != 0 || lacking == 0 || Machine::now_ns() < ask_again_at_) return;
    startable_ = lacking;
    counts_.thread_available(static_cast<int>(lacking));
  }

 private:
  const unsigned max_threads_;
  unsigned startable_;  // now
  unsigned starting_ = 0, started_ = 0;
  std::int64_t ask_again_at_ = 0;  // once a thread was refused
  basic_parking<Machine>& counts_;
};

}}}  // namespace fj::v0_2::detail
