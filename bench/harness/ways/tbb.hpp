// oneTBB's workers, and its simplest way to fork.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <optional>

#include "bench/harness/kernel.hpp"
#include "bench/harness/ways/children.hpp"
#include "bench/harness/ways/results.hpp"

namespace bench::ways {

// The arena limits the threads that work on this, the global control limits the threads of the process.
class tbb_team {
 public:
  tbb_team(int procs, std::size_t stack_size)
      : limit_(::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(procs)), arena_(procs) {
    if (stack_size) stack_size_.emplace(::tbb::global_control::thread_stack_size, stack_size);
  }

  template <class F>
  void run(F&& f) {
    arena_.execute(f);
  }
  counter_list counters() const { return {}; }

 private:
  std::optional<::tbb::global_control> stack_size_;
  ::tbb::global_control limit_;
  ::tbb::task_arena arena_;
};

struct tbb_policy {
  static constexpr bool is_serial = false;
  using team = tbb_team;

  template <class... F>
  static auto fork(F&&... f) {
    return fork_with_results([](auto&&... g) { ::tbb::parallel_invoke(g...); }, f...);
  }

  template <class T, class Body>
  static T children(int count, T init, const Body& body) {
    ::tbb::task_group others;
    return children_by(others, count, init, body);
  }

  // A task for each child but the last, which the caller runs.
  template <class T, class Body>
  static T children_by(::tbb::task_group& others, int count, const T& init, const Body& body) {
    child_results<T> found(count);
    for (int i = 0; i < count - 1; ++i) others.run([&found, &body, i] { found[i] = body(i); });
    if (count > 0) found[count - 1] = body(count - 1);
    others.wait();
    return found.add_up(init, count);
  }

  template <class Body>
  static void loop(long first, long last, long grain, const Body& body) {
    ::tbb::parallel_for(
        ::tbb::blocked_range<long>(first, last, static_cast<std::size_t>(grain)),
        [&](const ::tbb::blocked_range<long>& r) { body(r.begin(), r.end()); }, ::tbb::simple_partitioner());
  }
};

}  // namespace bench::ways
