// Grades lab 5: the lateness that fj::tasks has in this tree is predicted, and the policy of the answer has none.
#include ANSWER

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "forkjoin/forkjoin.hpp"

namespace {

// Milliseconds by which the latest strand went on late, of five runs in order. On a busy machine a thief may come too
// late for that.
template <class Policy>
std::array<long, 5> lateness(long far, long a, long b) {
  std::array<long, 5> measured;
  for (long& each : measured) {
    fj::runtime rt({.procs = 4});
    rt.run([=] { far_and_near<Policy>(far, a, b); });
    each = std::lround(static_cast<double>(rt.stats().total().most_late_ns) / 1e6);
  }
  std::ranges::sort(measured);
  return measured;
}

}  // namespace

int main() {
  constexpr long near_enough = 60;
  for (const auto& [far, a, b] : {std::tuple{250L, 240L, 140L}, std::tuple{150L, 220L, 140L}}) {
    const long by_tasks = lateness<fj::tasks>(far, a, b)[3], by_answer = lateness<policy>(far, a, b)[2];
    const long predicted = predicted_lateness(far, a, b);
    std::printf("far %ld, a %ld, b %ld: predicted %ld ms, by fj::tasks %ld ms, by your policy %ld ms\n", far, a, b,
                predicted, by_tasks, by_answer);
    if (std::labs(by_tasks - predicted) > near_enough || by_answer > near_enough) return 1;
  }
}
