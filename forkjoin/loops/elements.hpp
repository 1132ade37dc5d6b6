// What algorithms ask of elements, comparators, predicates and projections.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

namespace fj::inline v0_1::detail {

/// The user's grain as a difference; the largest one if it is larger.
template <class I>
constexpr std::iter_difference_t<I> as_difference(std::size_t n) {
  using difference = std::iter_difference_t<I>;
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<difference>::max());
  return static_cast<difference>(n < most ? n : most);
}

/// Elements that are copied like an integer: branch-free code pays for them, and an exception loses none.
template <class T>
concept cheaply_copied = std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && sizeof(T) <= 32;

/// Whether reading an element throws nothing. std::reverse_iterator does not declare that itself.
template <class I>
inline constexpr bool reads_nothrow =
    noexcept(*std::declval<I&>()) && noexcept(std::ranges::iter_move(std::declval<I&>()));
template <class I>
inline constexpr bool reads_nothrow<std::reverse_iterator<I>> = reads_nothrow<I>;

/// Whether elements of I move between the sequence and variables without exceptions.
template <class I>
concept moves_nothrow =
    reads_nothrow<I> && std::is_nothrow_constructible_v<std::iter_value_t<I>, std::iter_rvalue_reference_t<I>> &&
    std::is_nothrow_assignable_v<std::iter_reference_t<I>, std::iter_value_t<I>>;

// The conditions on arguments of users. The compiler checks the second part of each only where the first one holds.

template <class P, class I>
concept projection_for = std::indirectly_regular_unary_invocable<P, I>;

template <class C, class I, class P>
concept comparator_for = projection_for<P, I> && std::indirect_strict_weak_order<C, std::projected<I, P>>;

template <class F, class I, class P>
concept predicate_for = projection_for<P, I> && std::indirect_unary_predicate<F, std::projected<I, P>>;

/// A comparator and a projection in one, by reference: both must outlive it.
template <class Compare, class Projection>
class ordering {
 public:
  ordering(Compare& comp, Projection& proj) noexcept : comp_(std::addressof(comp)), proj_(std::addressof(proj)) {}

  template <class A, class B>
    requires std::invocable<Projection&, A> && std::invocable<Projection&, B> &&
             std::invocable<Compare&, std::invoke_result_t<Projection&, A>, std::invoke_result_t<Projection&, B>>
  bool operator()(A&& a, B&& b) const {
    return static_cast<bool>(std::invoke(*comp_, std::invoke(*proj_, std::forward<A>(a)),  //
                                         std::invoke(*proj_, std::forward<B>(b))));
  }

 private:
  Compare* comp_;
  Projection* proj_;
};

}  // namespace fj::inline v0_1::detail
