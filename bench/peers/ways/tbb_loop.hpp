// oneTBB's parallel_for with a partitioner of choice. affinity_partitioner remembers from loop to loop which thread ran
// which rows, so the loops of a kernel share one.
#pragma once

#include <tbb/partitioner.h>

#include "bench/harness/ways/tbb.hpp"

namespace bench::ways {

template <class Partitioner>
struct tbb_loop : tbb_policy {
  template <class Body>
  static void loop(long first, long last, long grain, const Body& body) {
    static Partitioner partitioner;
    ::tbb::parallel_for(
        ::tbb::blocked_range<long>(first, last, static_cast<std::size_t>(grain)),
        [&](const ::tbb::blocked_range<long>& r) { body(r.begin(), r.end()); }, partitioner);
  }
};

}  // namespace bench::ways
