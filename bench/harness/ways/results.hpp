// For libraries whose tasks return nothing: each closure leaves its result in a variable of the function that forked
// it.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace bench::ways {

template <class... F>
inline constexpr bool all_void = (std::is_void_v<std::invoke_result_t<F&>> && ...);

// Holds a small closure by value, as in code written by hand: [&a, n] { a = fib(n - 1); }.
template <class F>
struct storing {
  std::conditional_t<std::is_trivially_copyable_v<F> && sizeof(F) <= 64, F, F&> f;
  std::invoke_result_t<F&>& result;
  void operator()() const { result = f(); }
};

// Calls fork_void with closures that return nothing, and returns a tuple of the results of f.
template <class Fork, class... F>
[[gnu::always_inline]] inline auto fork_with_results(const Fork& fork_void, F&... f) {
  if constexpr (all_void<F...>) {
    fork_void(f...);
  } else {
    std::tuple<std::invoke_result_t<F&>...> results;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      fork_void(storing<F>{f, std::get<I>(results)}...);
    }(std::index_sequence_for<F...>());
    return results;
  }
}

}  // namespace bench::ways
