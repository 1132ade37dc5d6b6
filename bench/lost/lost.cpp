// How long a look for lost fibers stops the program, by the size of its heap.
//
//   lost [mib...]     mib: 1 2 4 8 16 32 64 128 256
//
// The heap is a list of blocks of 64 bytes. For each size the program prints the medians of some calls of
// fj::lost_fibers(), in which nothing is lost, so that each looks once:
//   stop       the longest time for which another thread, which reads the clock without end, stood still
//   processor  the processor time of the thread that looked
//   mib/ms     the size over that time
// On a busy machine the first two differ, because other programs have the processor in between.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"

namespace {

constexpr int rounds = 5;
constexpr std::size_t block_bytes = 64;  // in glibc's malloc

struct node {
  node* next = nullptr;
  std::byte unused[40]{};
};
static_assert(sizeof(node) + 2 * sizeof(std::size_t) == block_bytes);

class list {
 public:
  explicit list(std::size_t blocks) {
    for (std::size_t i = 0; i < blocks; ++i) first_ = new node{first_, {}};
  }
  ~list() {
    while (first_) delete std::exchange(first_, first_->next);
  }
  list(const list&) = delete;
  list& operator=(const list&) = delete;

 private:
  node* first_ = nullptr;
};

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double processor_ms() {
  std::timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double median(std::vector<double>& of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2];
}

// Between two readings of the clock by a thread of its own, since the last call of start.
class longest_pause {
 public:
  longest_pause() : reads_([this] { read(); }) {}
  ~longest_pause() {
    over_ = true;
    reads_.join();
  }
  void start() { longest_ = 0; }
  // Waits for two readings: the first may have begun before the thread stood still.
  double ms() const {
    for (const unsigned before = readings_; readings_ - before < 2;) std::this_thread::yield();
    return longest_;
  }

 private:
  void read() {
    for (double last = now_ms(); !over_;) {
      const double now = now_ms();
      if (now - last > longest_) longest_ = now - last;
      last = now;
      readings_ = readings_ + 1;
    }
  }
  std::atomic<double> longest_{0};
  std::atomic<unsigned> readings_{0};
  std::atomic<bool> over_{false};
  std::thread reads_;
};

void measure(std::size_t mib) {
  const list heap((mib << 20) / block_bytes);
  std::vector<double> stops, times;
  longest_pause pause;
  for (int i = 0; i < rounds; ++i) {
    pause.start();
    const double before = processor_ms();
    const fj::lost_report report = fj::lost_fibers();
    times.push_back(processor_ms() - before);
    stops.push_back(pause.ms());
    if (!report.text().empty()) {
      std::fputs(report.text().c_str(), stderr);
      std::exit(1);
    }
  }
  const double time = median(times);
  std::printf("%5zu MiB  stop %8.2f ms  processor %8.2f ms  %5.2f MiB/ms\n", mib, median(stops), time,
              static_cast<double>(mib) / time);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoul(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {1, 2, 4, 8, 16, 32, 64, 128, 256};
  if (std::find(sizes.begin(), sizes.end(), 0u) != sizes.end()) {
    std::fprintf(stderr, "usage: lost [mib...]\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  static_cast<void>(fj::lost_fibers());  // threads that start from now on let themselves be stopped
  fj::runtime rt({.procs = 2});
  const fj::channel<int> end(0);
  auto waits = rt.go([=] { static_cast<void>(end.receive()); });
  for (const std::size_t mib : sizes) measure(mib);
  end.close();
}
