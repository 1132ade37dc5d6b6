// Task groups: as scopes, but for who may make, fill and await them.
#include <chrono>
#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/task_group.hpp>
#include <memory>
#include <stdexcept>
#include <vector>

#include "test/process/races/cases.hpp"

using races_test::use;

namespace {

struct counter {
  void add(int to, int n) {
    tasks.run([this, to, n] { sums[static_cast<std::size_t>(to)] += n; });  // a race of the cases that have no other
  }
  int sum() {
    tasks.wait();
    return sums[0] + sums[1];
  }

  std::vector<int> sums{0, 0};
  fj::task_group tasks;
};

CASE(group_in_an_object) {  // clean: made and awaited outside of any fork
  counter all;
  all.add(0, 1);
  all.add(1, 2);
  int n = all.sum();
  fj::run([&] {
    all.add(0, 3);
    all.add(1, 4);
    n += all.sum();
    all.sums[0] = 5;
  });
  use(n);
}

CASE(group_shared) {  // racy
  int n = 0;
  fj::task_group tasks;
  tasks.run([&] { ++n; });  // race: a
  tasks.run([&] { ++n; });  // race: b
  tasks.wait();
  use(n);
}

CASE(group_beside) {  // racy
  fj::run([] {
    int n = 0;
    fj::task_group tasks;
    tasks.run([&] { ++n; });  // race: a
    use(n);
    ++n;  // race: b
    tasks.run_and_wait([] {});
  });
}

CASE(group_run_and_wait) {  // racy: the caller's task is one of the group
  int n = 0;
  fj::task_group tasks;
  tasks.run([&] { ++n; });           // race: a
  tasks.run_and_wait([&] { ++n; });  // race: b
  use(n);
}

CASE(group_outlives_branch) {  // clean: made in a branch, awaited behind its join
  std::unique_ptr<fj::task_group> tasks;
  int n = 0, other = 0;
  fj::fork_join(
      [&] {
        tasks = std::make_unique<fj::task_group>();
        tasks->run([&] { ++n; });
      },
      [&] { ++other; });
  tasks->run([&] { ++other; });
  tasks->wait();
  n += other;
  use(n);
}

CASE(group_outlives_join) {  // racy: the join of the branch is none of its tasks
  std::unique_ptr<fj::task_group> tasks;
  int n = 0;
  fj::run([&] {
    fj::fork_join(
        [&] {
          tasks = std::make_unique<fj::task_group>();
          tasks->run([&] { ++n; });  // race: a
        },
        [] {});
    ++n;  // race: b
    tasks->wait();
  });
}

CASE(group_outlives_iterations) {  // racy: a task of an earlier iteration
  std::unique_ptr<fj::task_group> tasks;
  int n = 0;
  fj::parallel_for(0, 5, [&](int i) {
    if (i == 1) {
      tasks = std::make_unique<fj::task_group>();
      tasks->run([&] { ++n; });  // race: a
    }
    if (i == 4) ++n;  // race: b
  });
  tasks->wait();
}

CASE(group_awaited_by_branches) {  // clean
  int n = 0, a = 0, b = 0;
  fj::task_group tasks;
  fj::run([&] {
    tasks.run([&] { ++n; });
    const auto look = [&](int& to) {
      tasks.wait();
      to = n;
    };
    fj::fork_join([&] { look(a); }, [&] { look(b); });
    n += a + b;
  });
  use(n);
}

CASE(group_task_starts_others) {  // racy
  int n = 0;
  fj::task_group tasks;
  tasks.run([&] {
    tasks.run([&] { ++n; });  // race: a
    ++n;                      // race: b
  });
  tasks.wait();
  use(n);
}

CASE(group_fails) {  // clean
  int caught = 0;
  fj::task_group tasks;
  for (int i = 0; i != 3; ++i) {
    tasks.run([] { throw std::runtime_error("bad"); });
    tasks.run([](fj::stop_token stop) { use(stop); });
    try {
      tasks.wait();
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  fj::fork_join([&] { tasks.cancel(); }, [&] { tasks.cancel(); });
  tasks.run([&] { caught = 9; });
  const fj::task_group::reservation here = tasks.reserve();
  if (tasks.wait({.until = std::chrono::steady_clock::now()}) == fj::task_group_status::canceled) ++caught;
  if (caught != 4) throw std::logic_error("not as in the other build");
}

}  // namespace
