// Names of oneTBB that are left out, by this library's <tbb/tbb.h>: each ends in a sentence that says what to do.
// expect: forkjoin has no flow graph: write fibers with channels between them, or nested forks
// expect: forkjoin has no tbb::task::suspend: wait for an fj::promise or an fj::channel
// expect: forkjoin has no tbb::task_scheduler_handle: threads end with the process
// expect: forkjoin has no tbb::finalize: threads end with the process
// expect: forkjoin has no tbb::cache_aligned_resource: use std::pmr::new_delete_resource()
// expect: forkjoin has no tbb::collaborative_call_once: use fj::once with once.call(f)
// expect: forkjoin has no priorities of arenas: each arena has threads of its own

#include "forkjoin/tbb/tbb/tbb.h"

#include <vector>

int main() {
  tbb::enumerable_thread_specific<std::vector<int>> values;
#ifdef FIXED
  values.local().push_back(tbb::info::default_concurrency(tbb::info::numa_nodes().front()));
  tbb::task_arena arena(tbb::task_arena::constraints{}.set_numa_id(0).set_max_concurrency(1));
  arena.execute([] { tbb::this_task_arena::enqueue([] {}); });
  tbb::null_rw_mutex none;
  const tbb::null_rw_mutex::scoped_lock held(none, false);
  static_cast<void>(TBB_runtime_version());
  tbb::task_arena usual(1, 1, tbb::task_arena::priority::normal);
#else
  tbb::flow::graph graph;
  tbb::flow::function_node<int, int> node(graph, tbb::flow::unlimited, [](int i) { return i; });
  tbb::flow::make_edge(node, node);
  tbb::task::suspend([](tbb::task::suspend_point) {});
  tbb::task_scheduler_handle* handle;
  tbb::finalize(tbb::attach());
  tbb::cache_aligned_resource* memory;
  tbb::collaborative_call_once(0, [] {});
  tbb::task_arena urgent(1, 1, tbb::task_arena::priority::high);
#endif
}
