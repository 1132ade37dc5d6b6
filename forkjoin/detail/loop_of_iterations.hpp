// The home strand of a loop of forks: it offers what comes after each iteration. The model checks run it on a loop of
// theirs.
#pragma once

#include <cstddef>

namespace fj { inline namespace v0_4 { namespace detail {

// The home strand has closures of its own, which nothing else refers to, so that compilers keep what they hold in
// registers.

/// Calls iteration.start(i), which may refuse by an exception, and iteration(i) for all i < count, which is not 0. An
/// iteration starts before the rest after it is offered, so iterations start in order. `Loop` is as loop_of_forks.
template <class Loop, class Iteration>
class basic_loop_of_iterations final : Loop {
 public:
  [[gnu::always_inline]] basic_loop_of_iterations(std::size_t iterations, const Iteration& iteration) noexcept
      : Loop(iterations), iteration_(iteration) {}

  [[gnu::always_inline]] void run(std::size_t n, Iteration iteration) {
    try {
      for (std::size_t i = 0;;) {
        this->next_is(n);  // nothing is offered if start throws
        iteration.start(i);
        this->next_is(i + 1);
        if (i + 1 == n) return iteration(i);
        if (!this->offer()) break;
        iteration(i);
        if (!this->take_back()) break;
        ++i;
      }
    } catch (...) {
      if (!this->keep_exception()) throw;
    }
    this->join_iterations();
    this->throw_first();
  }

 private:
  bool start_stolen(std::size_t i) noexcept override {
    return this->run_unless_thrown(i, [&] { iteration_.start(i); });
  }

  bool run_stolen(std::size_t i) noexcept override {
    return this->run_unless_thrown(i, [&] { iteration_(i); });
  }

  Iteration iteration_;
};

}}}  // namespace fj::v0_4::detail
