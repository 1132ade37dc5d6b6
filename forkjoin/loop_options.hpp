// The options of loops and algorithms.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <concepts>
#include <cstddef>

#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

/// A pointer to a token, or none.
class token_pointer {
 public:
  constexpr token_pointer(const stop_token* token = nullptr) noexcept : token_(token) {}
  // Not deleted: clang would not print why it rejects the options.
  template <class T>
    requires std::same_as<T, stop_token> || std::same_as<T, stop_source>
  token_pointer(const T&) {
    static_assert(!std::same_as<T, T>,
                  "fj::loop_options: stop is a pointer to a token that outlives the call; write .stop = &token, where "
                  "token = source.get_token() if there is a source");
  }

  constexpr operator const stop_token*() const noexcept { return token_; }
  constexpr const stop_token* operator->() const noexcept { return token_; }

 private:
  const stop_token* token_;
};

}  // namespace detail

/// For loops and algorithms: parallel_for(0, n, body, {.grain = 64, .stop = &token}).
struct loop_options {
  /// How many elements a strand does without forking. 0: the algorithm chooses. One larger than the loop: it does not
  /// fork.
  std::size_t grain = 0;

  /// A const stop_token*, which must outlive the call. Once it is asked to stop, the call leaves out the parts that
  /// have not started, and throws fj::cancelled.
  detail::token_pointer stop = nullptr;
};

}}  // namespace fj::v0_4
