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

namespace fj { inline namespace v0_4 { namespace detail {

/// The user's grain as a difference; the largest one if it is larger.
template <class It>
constexpr std::iter_difference_t<It> as_difference(std::size_t n) {
  using difference = std::iter_difference_t<It>;
  constexpr auto most = static_cast<std::size_t>((std::numeric_limits<difference>::max)());
  return static_cast<difference>(n < most ? n : most);
}

/// Elements that are copied like an integer: branch-free code pays for them, and an exception loses none.
template <class T>
concept cheaply_copied = std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && sizeof(T) <= 32;

/// Whether reading an element throws nothing. std::reverse_iterator does not declare that itself.
template <class It>
inline constexpr bool reads_nothrow =
    noexcept(*std::declval<It&>()) && noexcept(std::ranges::iter_move(std::declval<It&>()));
template <class It>
inline constexpr bool reads_nothrow<std::reverse_iterator<It>> = reads_nothrow<It>;

/// Whether elements of It move between the sequence and variables without exceptions.
template <class It>
concept moves_nothrow =
    reads_nothrow<It> && std::is_nothrow_constructible_v<std::iter_value_t<It>, std::iter_rvalue_reference_t<It>> &&
    std::is_nothrow_assignable_v<std::iter_reference_t<It>, std::iter_value_t<It>>;

// The conditions on arguments of users. The compiler checks the second part of each only where the first one holds.

template <class P, class It>
concept projection_for = std::indirectly_regular_unary_invocable<P, It>;

template <class C, class It, class P>
concept comparator_for = projection_for<P, It> && std::indirect_strict_weak_order<C, std::projected<It, P>>;

template <class F, class It, class P>
concept predicate_for = projection_for<P, It> && std::indirect_unary_predicate<F, std::projected<It, P>>;

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

}}}  // namespace fj::v0_4::detail
