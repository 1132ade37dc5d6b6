// Many schedules of one program, to find the one that fails. Not part of <forkjoin/forkjoin.hpp>.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include <concepts>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "forkjoin/abi/explore.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

template <class T>
concept printable = requires(std::ostream& to, const T& value) {
  { to << value } -> std::convertible_to<std::ostream&>;
};

/// Calls f, and gives its result as text; nothing if it has none that can be printed.
template <class F>
std::string call_for_text(void* f) {
  F& mine = *static_cast<F*>(f);
  if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
    mine();
    return {};
  } else {
    static_assert(
        printable<std::invoke_result_t<F&>>,
        "fj::explore compares results by their text: return something that std::ostream can print, or nothing");
    std::ostringstream text;
    text << mine();
    return std::move(text).str();
  }
}

}  // namespace detail

/// Calls f again and again, each time in a runtime of its own by another schedule (options::schedule, seeds 1 to
/// `schedules`), until one fails: f throws, returns something that prints otherwise than by the first schedule, or the
/// process dies, stands still (a deadlock, also of fibers that f has left), makes a million choices, or comes to no
/// fork, join, or operation of <forkjoin/go.hpp> for 20 s. Then it prints that schedule's seed, and the fewest choices
/// that were found to make f fail, to standard error. Seeds are random schedules and schedules by priorities in turn
/// (runtime/replay.hpp).
///
/// Each call is in a copy of this process (fork(2)), so f finds everything as it was, and nothing that it changes is
/// left; an `assert` that fails ends the copy alone. What the copies write to standard error is shown for the one that
/// fails. With 0 schedules nothing is called, and nothing fails. The first seed is tried twice: if its two courses
/// differ, `repeats` is false, and that is a failure.
///
/// With FORKJOIN_SCHEDULE in the environment, or wanted.schedule, f is called once, in this process, by that schedule:
/// for a debugger, or a trace. What f throws then leaves explore.
///
/// f does not see other threads' work between two operations of the library. So a race of plain accesses shows only if
/// there is one between them; ./dev races finds the others. Costs a few milliseconds a schedule. Errors:
/// std::logic_error inside a runtime, std::system_error if the system refuses copies, std::bad_alloc; as fj::runtime
/// for options.
template <class F>
exploration explore(F&& f, unsigned schedules = 100, const options& wanted = {}) {
  using function = std::remove_reference_t<F>;
  if constexpr (std::is_function_v<function>) {
    return fj::explore(&f, schedules, wanted);
  } else {
    const detail::explored_program program{&detail::call_for_text<function>,
                                           const_cast<void*>(static_cast<const void*>(std::addressof(f)))};
    return detail::explore(program, schedules, wanted);
  }
}

}}  // namespace fj::v0_4
