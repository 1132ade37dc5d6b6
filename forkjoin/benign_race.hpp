// A mark for races that are meant.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <functional>
#include <type_traits>

#include "forkjoin/serial/observer.hpp"

namespace fj { inline namespace v0_4 {

/// Calls f and returns what it returns. The race detector (forkjoin/guide/races.md) does not see what f does: so no
/// race that f takes part in is reported, whatever the other side is. In other builds this is the call alone. The race
/// stays what it is for the language: undefined, unless the accesses are atomic.
template <class F>
[[gnu::always_inline]] inline std::invoke_result_t<F&> benign_race(F&& f) {
  [[maybe_unused]] const detail::unobserved here;
  return std::invoke(f);
}

}}  // namespace fj::v0_4
