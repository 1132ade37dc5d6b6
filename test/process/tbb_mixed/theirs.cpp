// Over oneTBB, in the same program.
#include <tbb/combinable.h>
#include <tbb/concurrent_vector.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/spin_mutex.h>
#include <tbb/task_group.h>

#include <functional>

#ifdef FORKJOIN_TBB
#error "these are forkjoin's"
#endif

#define ALGORITHMS theirs_algorithms
#include "algorithms.hpp"

long theirs() {
  tbb::combinable<long> sums;
  tbb::spin_mutex mutex;
  tbb::concurrent_vector<int> all;
  tbb::parallel_for(0, 1'000, [&](int i) {
    sums.local() += i;
    const tbb::spin_mutex::scoped_lock held(mutex);
    all.push_back(i);
  });
  tbb::task_group tasks;
  long run = 0;
  tasks.run([&] { run = 1; });
  tasks.wait();
  return sums.combine(std::plus<>()) + static_cast<long>(all.size()) + run + theirs_algorithms();
}
