// oneTBB's loops over blocked_range, with a partitioner of choice. An affinity_partitioner remembers which thread ran
// which elements, so each loop of a kernel has its own, and keeps it.
#pragma once

#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <tbb/partitioner.h>

#include <functional>

#include "bench/harness/ways/tbb.hpp"

namespace bench::ways {

template <class Partitioner>
struct tbb_loops {
  static constexpr bool is_serial = false;
  using team = tbb_team;
  using range = ::tbb::blocked_range<long>;

  template <class Body>
  [[gnu::always_inline]] static void each(long n, const Body& body) {
    static Partitioner partitioner;
    ::tbb::parallel_for(
        range(0, n),
        [&](const range& part) {
          for (long i = part.begin(); i != part.end(); ++i) body(i);
        },
        partitioner);
  }

  template <class T, class Term>
  [[gnu::always_inline]] static T sum(long n, T zero, const Term& term) {
    static Partitioner partitioner;
    return ::tbb::parallel_reduce(
        range(0, n), zero,
        [&](const range& part, T sum) {
          for (long i = part.begin(); i != part.end(); ++i) sum += term(i);
          return sum;
        },
        std::plus<>(), partitioner);
  }

  template <class T>
  static T scan(const T* in, long n, T* out) {
    return ::tbb::parallel_scan(
        range(0, n), T(),
        [=](const range& part, T sum, bool is_final) {
          for (long i = part.begin(); i != part.end(); ++i) {
            const T next = sum + in[i];
            if (is_final) out[i] = sum;
            sum = next;
          }
          return sum;
        },
        std::plus<>());
  }

  template <class T, class Test>
  static long pack(const T* in, long n, T* out, const Test& test) {
    return ::tbb::parallel_scan(
        range(0, n), 0L,
        [&](const range& part, long to, bool is_final) {
          for (long i = part.begin(); i != part.end(); ++i) {
            if (!test(in[i])) continue;
            if (is_final) out[to] = in[i];
            ++to;
          }
          return to;
        },
        std::plus<>());
  }

  template <class T, class Less>
  static void sort(T* first, long n, const Less& less) {
    ::tbb::parallel_sort(first, first + n, less);
  }
};

}  // namespace bench::ways
