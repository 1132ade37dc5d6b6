// The hint of FORKJOIN_STATS names what lost most of the time of the P: one program for each cause, and one that loses
// little, on two P and on more. Leaves sleep, so that P are busy without processors. The unit test `report` has the
// rule, and what it was tried with.

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "forkjoin/abi/os/clock.hpp"
#include "forkjoin/go.hpp"
#include "runtime/os/cpu_time.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

void hold_for(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

template <class Leaf>
void in_parallel(unsigned leaves, const Leaf& leaf) {
  if (leaves == 1) return leaf();
  fj::fork_join([&] { in_parallel(leaves / 2, leaf); }, [&] { in_parallel(leaves - leaves / 2, leaf); });
}

// All of them last for as long from when the last has begun.
void hold_together(unsigned leaves, int ms) {
  std::atomic<unsigned> begun{0};
  in_parallel(leaves, [&] {
    ++begun;
    while (begun != leaves) hold_for(1);
    hold_for(ms);
  });
}

void work_for(int ms) {
  const std::int64_t begun = fj::detail::os::thread_cpu_ns();
  while (fj::detail::os::thread_cpu_ns() - begun < std::int64_t{ms} * 1'000'000) {}
}

// Loops of 3 to 4 us each, however fast the processor is: longer ones may be worth sharing, and shorter ones are not
// counted. Measured as one part of the library's loop, because this program is not optimized, and each step of a loop
// is a call.
void run_short_loops() {
  std::vector<double> x(1 << 20, 1.0);
  const auto step = [&](int i) { x[static_cast<std::size_t>(i)] = x[static_cast<std::size_t>(i)] * 0.999 + 0.1; };
  std::int64_t least_ns = 0;
  int n = 8;
  while (least_ns < 3'000) {
    n += n / 8;
    for (int repeat = 0; repeat < 100; ++repeat) {
      const std::int64_t begun = fj::detail::os::now_ns();
      fj::parallel_for(0, n, step, {.grain = static_cast<std::size_t>(n)});
      const std::int64_t took = fj::detail::os::now_ns() - begun;
      least_ns = repeat == 0 ? took : std::min(least_ns, took);
    }
  }
  for (int repeat = 0; repeat < 100'000; ++repeat) fj::parallel_for(0, n, step);
}

void program(const std::string& cause) {
  const unsigned procs = fj::procs();
  if (cause == "none") hold_together(procs, 2000);
  if (cause == "serial") {
    hold_together(procs, 200);
    hold_for(1000);
  }
  if (cause == "short loops") run_short_loops();
  if (cause == "thefts") hold_together(procs / 2, 1000);
  if (cause == "waits") {
    hold_together(procs, 200);
    fj::sleep_for(std::chrono::milliseconds(1000));
  }
  if (cause == "processors") {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof(one), &one);  // threads that begin later have it, too
    fj::run([&] { in_parallel(procs, [] { work_for(200); }); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const std::string cause = argv[1];
    if (cause == "processors") {
      program(cause);
    } else {
      fj::run([&] { program(cause); });
    }
    return 0;
  }
  test::verdict verdict;
  constexpr const char* by_others = "no processor ran them";
  const struct {
    const char *cause, *hint;
    unsigned least_procs;
  } all[] = {{"none", "forkjoin: hint: none", 2},
             {"serial", "one P alone was busy: that part is serial", 2},
             {"short loops", "most loops are too short to be shared", 2},
             {"thefts", "Ps found too little to steal", 4},
             {"waits", "all strands waited", 2},
             {"processors", by_others, 2}};
  for (const auto& [cause, hint, least_procs] : all)
    for (const unsigned procs : {2u, 4u, 8u}) {
      if (procs < least_procs) continue;
      const test::environment stats("FORKJOIN_STATS", "1"), number("FORKJOIN_PROCS", std::to_string(procs).c_str());
      const test::ending end = test::run_again({cause});
      const std::size_t at = end.said.find("forkjoin: hint: ");
      const std::string said = at == std::string::npos ? end.said : end.said.substr(at, end.said.find('\n', at) - at);
      if (hint != by_others && said.find(by_others) != std::string::npos) {
        std::printf("skipped: %s on %u P, as other programs had the processors\n", cause, procs);
        continue;
      }
      verdict.check(end.code == 0, std::string(cause) + ": exit code " + std::to_string(end.code));
      if (said.find(hint) == std::string::npos) verdict.contains(end.said, hint, cause);
    }
  return verdict.exit_code();
}
