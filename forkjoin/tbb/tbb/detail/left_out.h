// A sentence for each container of oneTBB that a program takes from <tbb/tbb.h>.
#pragma once

namespace tbb {

namespace fj_detail {

template <class...>
inline constexpr bool is_here = false;

template <class... Any>
class left_out {
  static_assert(is_here<Any...>,
                "forkjoin has no containers of oneTBB: keep them in sources of their own, compiled with oneTBB, or see "
                "forkjoin/guide/onetbb.md");
};

}  // namespace fj_detail

template <class... Any>
class concurrent_vector : fj_detail::left_out<Any...> {};
template <class... Any>
class concurrent_hash_map : fj_detail::left_out<Any...> {};
template <class... Any>
class concurrent_map : fj_detail::left_out<Any...> {};
template <class... Any>
class concurrent_multimap : fj_detail::left_out<Any...> {};
template <class... Any>
class concurrent_set : fj_detail::left_out<Any...> {};
template <class... Any>
class concurrent_multiset : fj_detail::left_out<Any...> {};
template <class... Any>
class concurrent_unordered_map : fj_detail::left_out<Any...> {};
template <class... Any>
class concurrent_unordered_multimap : fj_detail::left_out<Any...> {};
template <class... Any>
class concurrent_unordered_set : fj_detail::left_out<Any...> {};
template <class... Any>
class concurrent_unordered_multiset : fj_detail::left_out<Any...> {};
template <class... Any>
class concurrent_queue : fj_detail::left_out<Any...> {};
template <class... Any>
class concurrent_bounded_queue : fj_detail::left_out<Any...> {};
template <class... Any>
class concurrent_priority_queue : fj_detail::left_out<Any...> {};

}  // namespace tbb
