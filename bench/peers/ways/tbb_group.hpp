// oneTBB's task_group, with a context for every group or with one for all.
#pragma once

#include <tbb/task_group.h>

#include "bench/harness/ways/tbb.hpp"
#include "bench/peers/ways/tbb_context.hpp"

namespace bench::ways {

struct own_context {
  ::tbb::task_group group;
};

struct one_context {
  ::tbb::task_group group{shared_context()};
};

template <class Context>
struct tbb_groups : tbb_policy {
  template <class... F>
  static auto fork(F&&... f) {
    return fork_with_results(
        [](auto&&... g) {
          Context of;
          fork_into(of.group, g...);
          of.group.wait();
        },
        f...);
  }

  /// body(0) to body(count - 1), each a task of one group but the last, which the caller runs.
  template <class Body>
  static void each(int count, const Body& body) {
    Context of;
    for (int i = 0; i + 1 < count; ++i) of.group.run([&body, i] { body(i); });
    body(count - 1);
    of.group.wait();
  }

 private:
  template <class F, class... More>
  static void fork_into(::tbb::task_group& group, F& f, More&... more) {
    if constexpr (sizeof...(More) == 0) {
      f();
    } else {
      group.run(f);
      fork_into(group, more...);
    }
  }
};

using tbb_group_policy = tbb_groups<own_context>;
using tbb_group_shared_policy = tbb_groups<one_context>;

}  // namespace bench::ways
