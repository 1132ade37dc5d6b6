// Programs of which some policies need much memory: how much does the run of one of them take?
//
//   <program> <shape> <n> <P> <way>
//
// Prints `prepared_kib`, what the process has in memory before the run, `peak_kib`, the most that it had, and what the way counts.
#pragma once

#include <atomic>
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

inline void leaf() {
  for (int i = 0; i < 300; ++i) asm volatile("");
  leaves.fetch_add(1, std::memory_order_relaxed);
}

/// A loop that forks n children.
template <class Way>
void loop(long n) {
  typename Way::group all;
  for (long i = 0; i < n; ++i) all.fork([] { leaf(); });
  all.join();
}

/// A chain of n joins, each within the one before: along a list, a fork for each element.
template <class Way>
void chain(long n) {
  if (n == 0) return;
  long next = n - 1;
  Way::fork([] { leaf(); }, [next] { chain<Way>(next); });
  asm volatile("" : : "r"(&next) : "memory");  // it was there meanwhile: the serial program recurs, too
}

/// Nodes with n children each, three levels of them, in frames of 16 KiB.
template <class Way>
void wide(long n, int levels) {
  with_frame<16384>([&] {
    if (levels == 0) return leaf();
    typename Way::group all;
    for (long i = 0; i < n; ++i) all.fork([n, levels] { wide<Way>(n, levels - 1); });
    all.join();
  });
}

template <class Way>
bool run(std::string_view shape, long n) {
  long expected = n;
  if (shape == "loop") {
    loop<Way>(n);
  } else if (shape == "chain") {
    chain<Way>(n);
  } else {
    wide<Way>(n, 3);
    expected = n * n * n;
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
  std::string (*run)(std::string_view shape, long n, unsigned procs, bool& right);
};

inline int main_of(const std::vector<way>& ways, int argc, char** argv) {
  const std::string_view shape = argc == 5 ? argv[1] : "";
  const long n = argc == 5 ? std::atol(argv[2]) : 0;
  if ((shape != "loop" && shape != "chain" && shape != "wide") || n < 1 || std::atoi(argv[3]) < 1) {
    std::fprintf(stderr, "usage: %s loop|chain|wide <n> <P> <way>\n", argv[0]);
    return 2;
  }
  for (const way& each : ways) {
    if (each.name != argv[4]) continue;
    bool right = false;
    const long before = peak_kib();
    const std::string counted = each.run(shape, n, static_cast<unsigned>(std::atoi(argv[3])), right);
    std::printf("prepared_kib %ld\npeak_kib %ld\n%s", before, peak_kib(), counted.c_str());
    if (!right) std::fprintf(stderr, "%s: not all leaves ran once\n", argv[0]);
    return !right;
  }
  std::fprintf(stderr, "%s: no way %s\n", argv[0], argv[4]);
  return 2;
}

}  // namespace space
