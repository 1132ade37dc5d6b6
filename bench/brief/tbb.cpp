// Brief scans and loops, by oneTBB with its default partitioner.
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_scan.h>
#include <tbb/task_arena.h>

#include "bench/brief/brief.hpp"

namespace {

using range = tbb::blocked_range<std::size_t>;

/// A body in oneTBB's imperative form: which of the two passes a call belongs to is known when it is compiled.
template <class T, bool IsInclusive>
class scan {
 public:
  scan(const T* from, T* to) : from_(from), to_(to) {}
  scan(scan& other, tbb::split) : scan(other.from_, other.to_) {}

  template <class Pass>
  void operator()(const range& part, Pass) {
    T sum = sum_;
    for (std::size_t i = part.begin(); i != part.end(); ++i) {
      const T before = sum;
      sum += from_[i];
      if (Pass::is_final_scan()) to_[i] = IsInclusive ? sum : before;
    }
    sum_ = sum;
  }
  void reverse_join(const scan& left) { sum_ = left.sum_ + sum_; }
  void assign(const scan& last) { sum_ = last.sum_; }

 private:
  const T* from_;
  T* to_;
  T sum_ = 0;
};

class team {
 public:
  explicit team(int procs)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(procs)), arena_(procs) {}

  template <class F>
  void within(const F& f) {
    arena_.execute(f);
  }

  static void exclusive(const long* from, long* to, std::size_t n) {
    scan<long, false> body(from, to);
    tbb::parallel_scan(range(0, n), body);
  }
  static void inclusive(const double* from, double* to, std::size_t n) {
    scan<double, true> body(from, to);
    tbb::parallel_scan(range(0, n), body);
  }
  static void roots(const double* from, double* to, std::size_t n) {
    tbb::parallel_for(range(0, n), [=](const range& part) {
      for (std::size_t i = part.begin(); i != part.end(); ++i) to[i] = std::sqrt(from[i]);
    });
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

}  // namespace

int main(int argc, char** argv) { return bench::answer_all<team>(argc, argv, bench::call_of<team>); }
