// What becomes of the file of a trace: trace_files_test.py. trace_files_program WHAT FILE; status 3 and a message if
// the library refuses.
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

void switch_until(const std::atomic<bool>& over) {
  std::vector<fj::future<void>> all;
  for (int i = 0; i < 16; ++i)
    all.push_back(fj::go([&over] {
      while (!over) fj::sleep_for(50us);
    }));
  for (auto& each : all) each.get();
}

// Memory of files that have no name any more.
int nameless_mappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.ends_with("(deleted)");
  return count;
}

// Traces begin in the same file again and again, while threads go on that have not seen the end of the one before.
int again(const char* file) {
  fj::runtime rt({.procs = 4});
  std::atomic<bool> over{false};
  std::thread traces([&] {
    const auto end = std::chrono::steady_clock::now() + 1500ms;
    for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
      rt.trace_to(file);
      std::this_thread::sleep_for(std::chrono::milliseconds(i % 7));
      rt.stop_trace();
    }
    over = true;
  });
  rt.run([&] { switch_until(over); });
  traces.join();
  std::printf("%d\n", nameless_mappings());
  return 0;
}

// Traces until its input ends.
int until_told(const char* file) {
  fj::runtime rt({.procs = 2, .trace = file});
  std::atomic<bool> over{false};
  std::thread waits([&] {
    while (std::getchar() != EOF) {}
    over = true;
  });
  rt.run([&] {
    std::puts("traces");  // its own begin, at least
    std::fflush(stdout);
    switch_until(over);
  });
  waits.join();
  return 0;
}

int by_two(const char* file) {
  fj::runtime first({.procs = 1, .trace = file}), second({.procs = 3, .trace = file});
  for (fj::runtime* const each : {&first, &second})
    each->run([] {
      std::atomic<bool> over{false};
      auto ends = fj::go([&] {
        fj::sleep_for(5ms);
        over = true;
      });
      switch_until(over);
      ends.get();
    });
  return 0;
}

int called(const std::string& what, const char* file) {
  if (what == "again") return again(file);
  if (what == "until_told") return until_told(file);
  if (what == "by_two") return by_two(file);
  if (what == "environment") return fj::run([] { return static_cast<int>(fj::procs()) == 0; });
  if (what == "recorder") {
    fj::runtime rt({.procs = 1, .flight_recorder = file});
    rt.run([] {});
    if (std::ifstream(file).good()) return 4;
    rt.write_trace(file);
    return 0;
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    return called(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
