// Results of closures, whatever their type: values, references, nothing.
#pragma once

#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace fj { inline namespace v0_4 { namespace detail {

template <class F>
using result_of = std::invoke_result_t<F&>;

/// What stands for a result of type R in a tuple: std::monostate for void, references as they are.
template <class R>
using value_of = std::conditional_t<std::is_void_v<R>, std::monostate,
                                    std::conditional_t<std::is_reference_v<R>, R, std::remove_cv_t<R>>>;

/// What a fork of two returns.
template <class F, class G>
using results_of = std::tuple<value_of<result_of<F>>, value_of<result_of<G>>>;

/// Whether what F returns can be moved out of the place that holds it until the join.
template <class F>
concept returns_movable =
    !std::is_object_v<result_of<F>> || std::is_move_constructible_v<std::remove_cv_t<result_of<F>>>;

// Of all closures of a fork.
template <class... F>
inline constexpr bool are_callable = (std::is_invocable_v<F&> && ...);
template <class... F>
inline constexpr bool all_return_movable = (returns_movable<F> && ...);
template <class... F>
inline constexpr bool all_return_void = (std::is_void_v<result_of<F>> && ...);

/// Calls f and returns its result as a value_of.
template <class F>
[[gnu::always_inline]] inline value_of<result_of<F>> call(F& f) noexcept(std::is_nothrow_invocable_v<F&>) {
  if constexpr (std::is_void_v<result_of<F>>) {
    f();
    return {};
  } else {
    return f();
  }
}

/// Room for a result that may come later. Nothing is constructed until then, so that the room costs nothing. Its owner
/// keeps track of whether the result came.
template <class R>
class late_result {
 public:
  late_result() noexcept {}
  ~late_result() {}
  late_result(const late_result&) = delete;
  late_result& operator=(const late_result&) = delete;

  template <class F>
  void store(F& f) {
    ::new (static_cast<void*>(std::addressof(value_))) value_of<R>(detail::call(f));
  }

  value_of<R> take() {
    const destroyer destroy_after_move{*this};
    return std::move(value_);
  }

  void drop() noexcept { std::destroy_at(std::addressof(value_)); }

 private:
  struct destroyer {
    late_result& of;
    ~destroyer() { of.drop(); }
  };
  union {
    value_of<R> value_;
  };
};

template <class R>
  requires std::is_reference_v<R>
class late_result<R> {
 public:
  template <class F>
  void store(F& f) {
    put(detail::call(f));
  }

  void put(R value) noexcept { address_ = std::addressof(value); }

  R take() noexcept { return static_cast<R>(*address_); }
  void drop() noexcept {}

 private:
  std::remove_reference_t<R>* address_;
};

}}}  // namespace fj::v0_4::detail
