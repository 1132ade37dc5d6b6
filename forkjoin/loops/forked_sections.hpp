// The forks of a shared loop, each of which runs a section.
#pragma once

#include <exception>

#include "forkjoin/detail/first_exception.hpp"
#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/loops/sections.hpp"
#include "forkjoin/run.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Calls run(number) for each of `count` sections (sections.hpp), and throws the exception of the first that throws.
/// All run, whatever is thrown: a section further left may throw what the serial loop would.
template <class Run>
class forked_sections {
 public:
  forked_sections(unsigned count, unsigned procs, Run run) noexcept : all_(count, procs), count_(count), run_(run) {}

  void run() {
    fork(count_);
    if (thrown_.any()) std::rethrow_exception(thrown_.take());
  }

 private:
  void fork(unsigned count) {
    if (count == 1) return run_one();
    fj::fork_join([=, this] { fork(count / 2); }, [=, this] { fork(count - count / 2); });
  }

  void run_one() noexcept {
    const unsigned number = all_.claim(static_cast<unsigned>(this_proc()));
    try {
      run_(number);
    } catch (...) {
      thrown_.offer(number, detail::caught_exception());
    }
  }

  sections all_;
  const unsigned count_;
  first_exception thrown_;
  Run run_;
};

}}}  // namespace fj::v0_4::detail
