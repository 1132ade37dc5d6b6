// A sentence for each name of oneTBB 2021 that these headers have no meaning for: a program that uses one does not
// compile, and reads what to do instead. test/house/tbb_names.py compares with the headers of an installed oneTBB.
#pragma once

#include <cstddef>

// Whether <tbb/concurrent_*.h> bring an installed oneTBB's. The path is explained in onetbb.h.
#if __has_include(<oneapi/tbb/detail/../concurrent_vector.h>) && !defined(FORKJOIN_NO_ONETBB)
#define FORKJOIN_TBB_CONTAINERS 1
#else
#define FORKJOIN_TBB_CONTAINERS 0
#endif

#define FORKJOIN_TBB_LEFT_OUT(why) __attribute__((unavailable("forkjoin has no " why)))
#define FORKJOIN_TBB_CONTAINER                                                                                         \
  FORKJOIN_TBB_LEFT_OUT(                                                                                               \
      "containers of its own, and found no oneTBB's: install oneTBB (Debian: libtbb-dev), or give its include folder " \
      "by -I")
#define FORKJOIN_TBB_FLOW                                                                                              \
  FORKJOIN_TBB_LEFT_OUT(                                                                                               \
      "flow graph: write fibers with channels between them, or nested forks (graph, in forkjoin/guide/moving.md), or " \
      "keep it in sources of its own, compiled with oneTBB")

namespace tbb {

namespace fj_detail {

template <class...>
inline constexpr bool is_here = false;

/// Also where the attribute says nothing: as a base, or with its arguments deduced.
template <class... Any>
class left_out {
  static_assert(is_here<Any...>,
                "forkjoin has no flow graph, and containers where oneTBB is installed: see forkjoin/guide/onetbb.md");
};

}  // namespace fj_detail

#if !FORKJOIN_TBB_CONTAINERS

template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_vector : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_hash_map : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_map : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_multimap : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_set : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_multiset : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_unordered_map : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_unordered_multimap : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_unordered_set : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_unordered_multiset : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_queue : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_bounded_queue : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_priority_queue : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER concurrent_lru_cache : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_CONTAINER tbb_hash_compare : fj_detail::left_out<Any...> {};

struct FORKJOIN_TBB_CONTAINER user_abort;
struct FORKJOIN_TBB_CONTAINER bad_last_alloc;

#endif

namespace flow {

template <class... Any>
class FORKJOIN_TBB_FLOW continue_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW function_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW multifunction_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW input_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW async_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW broadcast_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW buffer_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW queue_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW priority_queue_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW sequencer_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW overwrite_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW write_once_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW limiter_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW split_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW join_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW indexer_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW composite_node : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW receiver : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW sender : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW tagged_msg : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW message_based_key_matching : fj_detail::left_out<Any...> {};
template <class... Any>
class FORKJOIN_TBB_FLOW key_matching : fj_detail::left_out<Any...> {};
class FORKJOIN_TBB_FLOW graph;
class FORKJOIN_TBB_FLOW graph_node;
class FORKJOIN_TBB_FLOW continue_msg;
class FORKJOIN_TBB_FLOW rejecting;
class FORKJOIN_TBB_FLOW reserving;
class FORKJOIN_TBB_FLOW queueing;
class FORKJOIN_TBB_FLOW tag_matching;
class FORKJOIN_TBB_FLOW lightweight;
class FORKJOIN_TBB_FLOW queueing_lightweight;
class FORKJOIN_TBB_FLOW rejecting_lightweight;
enum FORKJOIN_TBB_FLOW reset_flags {};
using node_priority_t FORKJOIN_TBB_FLOW = unsigned;
using tag_value FORKJOIN_TBB_FLOW = std::size_t;
FORKJOIN_TBB_FLOW inline constexpr int unlimited = 0;
FORKJOIN_TBB_FLOW inline constexpr int serial = 0;
FORKJOIN_TBB_FLOW inline constexpr int no_priority = 0;
FORKJOIN_TBB_FLOW inline constexpr int rf_reset_protocol = 0;
FORKJOIN_TBB_FLOW inline constexpr int rf_reset_bodies = 0;
FORKJOIN_TBB_FLOW inline constexpr int rf_clear_edges = 0;
template <class... Any>
FORKJOIN_TBB_FLOW void make_edge(Any&&...);
template <class... Any>
FORKJOIN_TBB_FLOW void remove_edge(Any&&...);
template <class, class... Any>
FORKJOIN_TBB_FLOW void copy_body(Any&&...);
template <std::size_t, class... Any>
FORKJOIN_TBB_FLOW void input_port(Any&&...);
template <std::size_t, class... Any>
FORKJOIN_TBB_FLOW void output_port(Any&&...);
template <class... Any>
FORKJOIN_TBB_FLOW void make_node_set(Any&&...);
template <class... Any>
FORKJOIN_TBB_FLOW void make_edges(Any&&...);
template <class... Any>
FORKJOIN_TBB_FLOW void follows(Any&&...);
template <class... Any>
FORKJOIN_TBB_FLOW void precedes(Any&&...);
template <class, class... Any>
FORKJOIN_TBB_FLOW void cast_to(Any&&...);
template <class, class... Any>
FORKJOIN_TBB_FLOW void is_a(Any&&...);

}  // namespace flow

class FORKJOIN_TBB_LEFT_OUT("tbb::cache_aligned_resource: use std::pmr::new_delete_resource()") cache_aligned_resource;

class FORKJOIN_TBB_LEFT_OUT("tbb::collaborative_once_flag: use fj::once with once.call(f)") collaborative_once_flag;
template <class... Any>
FORKJOIN_TBB_LEFT_OUT("tbb::collaborative_call_once: use fj::once with once.call(f)")
void collaborative_call_once(Any&&...);

class FORKJOIN_TBB_LEFT_OUT(
    "tbb::task_scheduler_handle: threads end with the process; an fj::runtime ends its own in its destructor")
    task_scheduler_handle;
template <class... Any>
FORKJOIN_TBB_LEFT_OUT("tbb::finalize: threads end with the process; an fj::runtime ends its own in its destructor")
bool finalize(Any&&...);
class FORKJOIN_TBB_LEFT_OUT("tbb::unsafe_wait: threads end with the process; leave it out") unsafe_wait;

namespace task {

class FORKJOIN_TBB_LEFT_OUT("tbb::task::suspend: wait for an fj::promise or an fj::channel, in any function")
    suspend_point;
template <class... Any>
FORKJOIN_TBB_LEFT_OUT("tbb::task::suspend: wait for an fj::promise or an fj::channel, in any function")
void suspend(Any&&...);
template <class... Any>
FORKJOIN_TBB_LEFT_OUT("tbb::task::resume: wait for an fj::promise or an fj::channel, in any function")
void resume(Any&&...);

}  // namespace task

}  // namespace tbb

#undef FORKJOIN_TBB_LEFT_OUT
#undef FORKJOIN_TBB_CONTAINER
#undef FORKJOIN_TBB_FLOW
