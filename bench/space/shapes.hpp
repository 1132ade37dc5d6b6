// Programs of which some policies need much memory: how much does the run of one of them take?
//
//   <program> <shape> <n> <P> <way> <us of a leaf>
//
// A leaf of 20 us or more sleeps, so that many P behave on few cores as if each had its own; a shorter one computes.
// Prints `prepared_kib`, what the process has in memory before the run, `peak_kib`, the most that it had, and what the
// way counts.
#pragma once

#include <sys/prctl.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace space {

/// Keeps `bytes` of its stack in use while f() runs.
template <std::size_t bytes, class F>
[[gnu::noinline]] void with_frame(F&& f) {
  char frame[bytes];
  for (std::size_t i = 0; i < bytes; i += 512) frame[i] = 1;
  asm volatile("" : : "r"(frame) : "memory");  // so that it is there
  f();
  asm volatile("" : : "r"(frame) : "memory");
}

inline std::atomic<long> leaves{0};

/// What runs, and how long a leaf of it takes.
struct program {
  std::string_view shape;
  long n;
  std::int64_t leaf_ns;
  static constexpr std::int64_t sleeps_from = 20'000;

  void leaf() const {
    leaves.fetch_add(1, std::memory_order_relaxed);
    if (leaf_ns >= sleeps_from) {
      static thread_local const int slack = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
      static_cast<void>(slack);
      const timespec time{leaf_ns / 1'000'000'000, leaf_ns % 1'000'000'000};
      nanosleep(&time, nullptr);
      return;
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(leaf_ns);
    while (std::chrono::steady_clock::now() < end) {}
  }
};

/// A loop that forks n children.
template <class Way>
void loop(const program& of) {
  typename Way::group all;
  for (long i = 0; i < of.n; ++i) all.fork([&of] { of.leaf(); });
  all.join();
}

/// A chain of n joins, each within the one before: along a list, a fork for each element. Mirrored: the rest of the
/// list first.
template <class Way, bool mirrored>
void chain(const program& of, long n) {
  if (n == 0) return;
  long next = n - 1;
  const auto leaf = [&of] { of.leaf(); };
  const auto rest = [&of, next] { chain<Way, mirrored>(of, next); };
  if constexpr (mirrored) {
    Way::fork(rest, leaf);
  } else {
    Way::fork(leaf, rest);
  }
  asm volatile("" : : "r"(&next) : "memory");  // it was there meanwhile: the serial program recurs, too
}

/// Nodes with n children each, three levels of them, in frames of 16 KiB.
template <class Way>
void wide(const program& of, int levels) {
  with_frame<16384>([&] {
    if (levels == 0) return of.leaf();
    typename Way::group all;
    for (long i = 0; i < of.n; ++i) all.fork([&of, levels] { wide<Way>(of, levels - 1); });
    all.join();
  });
}

template <class Way>
bool run(const program& of) {
  long expected = of.n;
  if (of.shape == "loop") {
    loop<Way>(of);
  } else if (of.shape == "chain") {
    chain<Way, false>(of, of.n);
  } else if (of.shape == "mirrored") {
    chain<Way, true>(of, of.n);
  } else {
    wide<Way>(of, 3);
    expected = of.n * of.n * of.n;
  }
  return leaves.load() == expected;
}

struct serial {
  struct group {
    template <class F>
    void fork(F f) {
      f();
    }
    void join() {}
  };
  template <class F, class G>
  static void fork(F f, G g) {
    f();
    g();
  }
};

/// Of this program: getrusage would count what the process was before it began this program.
inline long peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::atol(line.c_str() + 6);
  return 0;
}

struct way {
  std::string_view name;
  /// Runs it on so many P. What it has counted, as lines; `right`: whether all leaves ran.
  std::string (*run)(const program& of, unsigned procs, bool& right);
};

inline int main_of(const std::vector<way>& ways, int argc, char** argv) {
  const bool complete = argc == 6;
  const program of{complete ? argv[1] : "", complete ? std::atol(argv[2]) : 0,
                   complete ? static_cast<std::int64_t>(std::atof(argv[5]) * 1000) : 0};
  const bool known = of.shape == "loop" || of.shape == "chain" || of.shape == "mirrored" || of.shape == "wide";
  if (!known || of.n < 1 || std::atoi(argv[3]) < 1) {
    std::fprintf(stderr, "usage: %s loop|chain|mirrored|wide <n> <P> <way> <us of a leaf>\n", argv[0]);
    return 2;
  }
  for (const way& each : ways) {
    if (each.name != argv[4]) continue;
    bool right = false;
    const long before = peak_kib();
    const std::string counted = each.run(of, static_cast<unsigned>(std::atoi(argv[3])), right);
    std::printf("prepared_kib %ld\npeak_kib %ld\n%s", before, peak_kib(), counted.c_str());
    if (!right) std::fprintf(stderr, "%s: not all leaves ran once\n", argv[0]);
    return !right;
  }
  std::fprintf(stderr, "%s: no way %s\n", argv[0], argv[4]);
  return 2;
}

}  // namespace space
