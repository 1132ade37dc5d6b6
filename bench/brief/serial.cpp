// Brief scans and loops, by plain loops and the standard library.
#include <numeric>

#include "bench/brief/brief.hpp"

namespace {

class team {
 public:
  explicit team(int) {}

  template <class F>
  void within(const F& f) {
    f();
  }

  static void exclusive(const long* from, long* to, std::size_t n) { std::exclusive_scan(from, from + n, to, 0L); }
  static void inclusive(const double* from, double* to, std::size_t n) { std::inclusive_scan(from, from + n, to); }
  static void roots(const double* from, double* to, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to[i] = std::sqrt(from[i]);
  }
};

}  // namespace

int main(int argc, char** argv) { return bench::answer_all<team>(argc, argv, bench::call_of<team>); }
