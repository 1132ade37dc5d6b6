// A branch of a fork that may be stopped.
#pragma once

#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A closure that throws fj::cancelled instead of starting once its token was asked to stop.
template <class F>
struct unless_stopped {
  const stop_token& stop;
  lvalue<F> f;

  result_of<F> operator()() {
    if (stop.stop_requested()) throw cancelled();
    return f();
  }
};

}}}  // namespace fj::v0_4::detail
