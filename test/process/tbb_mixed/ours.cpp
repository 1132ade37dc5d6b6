// Over this library's names.
#include <tbb/combinable.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/spin_mutex.h>
#include <tbb/task_group.h>

#include <functional>

#ifndef FORKJOIN_TBB
#error "these are oneTBB's"
#endif

#define ALGORITHMS ours_algorithms
#include "algorithms.hpp"

long ours() {
  tbb::combinable<long> sums;
  tbb::spin_mutex mutex;
  long calls = 0;
  tbb::parallel_for(0, 1'000, [&](int i) {
    sums.local() += i;
    const tbb::spin_mutex::scoped_lock held(mutex);
    ++calls;
  });
  tbb::task_group tasks;
  long run = 0;
  tasks.run([&] { run = 1; });
  tasks.wait();
  return sums.combine(std::plus<>()) + calls + run + ours_algorithms();
}
