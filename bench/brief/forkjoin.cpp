// Brief scans and loops, by this library.
#include <forkjoin/parallel_for.hpp>
#include <forkjoin/run.hpp>
#include <forkjoin/scan.hpp>

#include "bench/brief/brief.hpp"

namespace {

class team {
 public:
  explicit team(int procs) : runtime_({.procs = static_cast<unsigned>(procs)}) {}

  template <class F>
  void within(const F& f) {
    runtime_.run(f);
  }

  static void exclusive(const long* from, long* to, std::size_t n) {
    fj::parallel_exclusive_scan(from, from + n, to, 0L);
  }
  static void inclusive(const double* from, double* to, std::size_t n) {
    fj::parallel_inclusive_scan(from, from + n, to);
  }
  static void roots(const double* from, double* to, std::size_t n) {
    fj::parallel_for(std::size_t(0), n, [=](std::size_t i) { to[i] = std::sqrt(from[i]); });
  }

 private:
  fj::runtime runtime_;
};

}  // namespace

int main(int argc, char** argv) { return bench::answer_all<team>(argc, argv, bench::call_of<team>); }
