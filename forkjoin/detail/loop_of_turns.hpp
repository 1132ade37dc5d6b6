// The home strand of a loop of forks: it offers what comes after each turn. The model checks run it on a loop of theirs.
#pragma once

#include <cstddef>

namespace fj { inline namespace v0_2 { namespace detail {

// The home strand has closures of its own, which nothing else refers to, so that compilers keep what they hold in registers.

/// Calls turn.start(i), which may refuse by an exception, and turn(i) for all i < count, which is not 0. A turn starts before the rest
/// after it is offered, so turns start in order. `Loop` is as loop_of_forks.
template <class Loop, class Turn>
class basic_loop_of_turns final : Loop {
 public:
  [[gnu::always_inline]] basic_loop_of_turns(std::size_t turns, const Turn& turn) noexcept : Loop(turns), turn_(turn) {}

  [[gnu::always_inline]] void run(std::size_t n, Turn turn) {
    try {
      for (std::size_t i = 0;;) {
        this->next_is(n);  // nothing is offered if start throws
        turn.start(i);
        this->next_is(i + 1);
        if (i + 1 == n) return turn(i);
        if (!this->offer()) break;
        turn(i);
        if (!this->take_back()) break;
        ++i;
      }
    } catch (...) {
      if (!this->keep_exception()) throw;
    }
    this->join_turns();
    this->throw_first();
  }

 private:
  bool start_stolen(std::size_t i) noexcept override {
    return this->run_unless_thrown(i, [&] { turn_.start(i); });
  }

  bool run_stolen(std::size_t i) noexcept override {
    return this->run_unless_thrown(i, [&] { turn_(i); });
  }

  Turn turn_;
};

}}}  // namespace fj::v0_2::detail
