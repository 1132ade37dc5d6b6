// Programs whose flight recorder is asked for: flight_test.py. flight_program WHAT [FILE]
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>

#include <unistd.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

using namespace std::chrono_literals;

extern "C" {
// With a name that the test looks for.
[[gnu::noinline]] void keeps_its_p(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) asm volatile("" ::: "memory");
}
}

namespace {

// Strands that are switched all the time, so that rings wrap.
void talk(fj::channel<int>& c, const std::atomic<bool>& over) {
  auto sends = fj::go([&] {
    while (!over) c.send(1);
    c.close();
  });
  while (c.receive()) {}
  sends.get();
}

int written(const char* file) {
  fj::runtime rt({.procs = 2, .flight_recorder = file});
  fj::channel<int> c(1);
  std::atomic<bool> over{false};
  std::thread runs([&] { rt.run([&] { talk(c, over); }); });
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(5ms);
    rt.write_trace((std::string(file) + "." + std::to_string(i)).c_str());
  }
  over = true;
  runs.join();
  return 0;
}

int kept() {
  fj::runtime rt({.procs = 1});
  rt.go([] {  // on a thread of the runtime
      auto other = fj::go([] {});
      keeps_its_p(400ms);
      other.get();
    })
      .get();
  return 0;
}

int hung(bool is_asked) {
  fj::runtime rt({.procs = 1});
  fj::channel<int> never(1);
  std::thread outside;
  if (is_asked)
    outside = std::thread([&] {
      std::this_thread::sleep_for(300ms);
      std::raise(SIGQUIT);
      std::this_thread::sleep_for(300ms);
      never.close();
    });
  rt.run([&] { never.receive(); });
  outside.join();
  return 0;
}

int slow_end() {
  fj::channel<int> c(1);
  std::thread closes([&] {
    std::this_thread::sleep_for(11s);
    c.close();
  });
  {
    fj::runtime rt({.procs = 1});
    static_cast<void>(rt.go([&] { c.receive(); }));
  }
  closes.join();
  return 0;
}

int refused() {
  fj::runtime rt({.procs = 1, .trace = "", .flight_recorder = ""});
  try {
    rt.write_trace("nowhere");
  } catch (const std::logic_error& error) {
    std::puts(error.what());
  }
  for (const char* path : {"", static_cast<const char*>(nullptr)}) {
    try {
      rt.trace_to(path);
    } catch (const std::exception& error) {
      std::puts(error.what());
    }
  }
  fj::runtime other({.procs = 1, .trace = "", .flight_recorder = "recorder"});
  try {
    other.trace_to("elsewhere");
  } catch (const std::logic_error& error) {
    std::puts(error.what());
  }
  for (const char* path : {"/nowhere/trace", "", static_cast<const char*>(nullptr)}) {
    try {
      other.write_trace(path);
    } catch (const std::exception& error) {
      std::puts(error.what());
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "written" && argc == 3) return written(argv[2]);
  if (what == "kept") return kept();
  if (what == "handled") {
    std::signal(SIGURG, [](int) {});
    return kept();
  }
  if (what == "deadlock") return hung(false);
  if (what == "sigquit") return hung(true);
  if (what == "slow_end") return slow_end();
  if (what == "refused") return refused();
  return 2;
}
