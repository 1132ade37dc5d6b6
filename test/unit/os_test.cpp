// runtime/os, from the bottom up: mutex, threads, contexts.
#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/clock.hpp"
#include "runtime/os/context/switch_context.hpp"
#include "runtime/os/futex.hpp"
#include "runtime/os/memory/pages.hpp"
#include "runtime/os/thread.hpp"
#include "test/support.hpp"

namespace {

namespace os = fj::detail::os;

// A context on a stack of its own that runs a function and returns to the context that resumed it.
class coroutine {
 public:
  explicit coroutine(void (*body)(coroutine&)) : body_(body) {
    os::adopt_native_stack(caller_);
    os::give_stack(self_, stack_.get(), size);
    os::make_context(self_, stack_.get() + size, &enter, this);
  }
  ~coroutine() { os::drop_context(self_); }
  coroutine(const coroutine&) = delete;
  coroutine& operator=(const coroutine&) = delete;

  void resume() {
    os::adopt_native_stack(caller_);  // it may belong to another thread now
    os::switch_context(caller_, self_);
  }
  void yield() { os::switch_context(self_, caller_); }
  bool over() const { return over_; }

  std::string text;

 private:
  static constexpr std::size_t size = 256 << 10;

  static void enter(void* argument) {
    auto& mine = *static_cast<coroutine*>(argument);
    mine.body_(mine);
    mine.over_ = true;
    os::finish_context(mine.self_, mine.caller_);
  }

  void (*const body_)(coroutine&);
  std::unique_ptr<std::byte[]> stack_{new std::byte[size]};
  os::context self_, caller_;
  bool over_ = false;
};

std::string current_message() {
  const std::exception_ptr error = std::current_exception();
  if (!error) return "none";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& caught) {
    return caught.what();
  }
}

}  // namespace

TEST_CASE("mutex: one at a time") {
  os::mutex mutex;
  if (mutex.try_lock()) {  // an if, for clang's analysis of what is locked
    std::thread([&] {
      const bool twice = mutex.try_lock();
      CHECK(!twice);
      if (twice) mutex.unlock();
    }).join();
    mutex.unlock();
  } else {
    FAIL("try_lock of a free mutex failed");
  }
  long sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (unsigned i = 0; i < test::divided(20'000u); ++i) {
        const std::scoped_lock guard(mutex);
        ++sum;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(sum == 4L * test::divided(20'000u));
}

TEST_CASE("futex: waits until the word changes, and not at all if it has") {
  const test::watchdog dog("futex", 0);
  std::atomic<std::uint32_t> word{0};
  os::futex_wait(word, 1);  // the word holds another value
  std::thread waiter([&] {
    while (word == 0) os::futex_wait(word, 0);
  });
  word = 1;
  os::futex_wake(word);
  waiter.join();
}

TEST_CASE("thread: starts, runs, joins") {
  os::thread thread;
  CHECK(!thread.started());
  std::atomic<int> value{0};
  REQUIRE(thread.start([](void* argument) noexcept { *static_cast<std::atomic<int>*>(argument) = 5; }, &value));
  CHECK(thread.started());
  thread.join();
  CHECK(value == 5);
}

TEST_CASE("clock: does not go backwards") {
  std::int64_t last = os::now_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = os::now_ns();
    REQUIRE(now >= last);
    last = now;
  }
}

TEST_CASE("pages: reserved, touched, discarded") {
  const std::size_t bytes = os::round_to_pages(100'000);
  CHECK(bytes % os::page_size() == 0);
  CHECK(bytes >= 100'000);
  CHECK(os::round_to_pages(bytes) == bytes);
  std::byte* const memory = os::reserve_pages(bytes);
  REQUIRE(memory);
  CHECK(!os::is_resident(memory));
  memory[5] = std::byte{7};
  CHECK(os::is_resident(memory));
  os::discard_pages(memory, bytes);
  CHECK(!os::is_resident(memory));
  CHECK(memory[5] == std::byte{0});
  os::release_pages(memory, bytes);
}

TEST_CASE("context: goes back and forth, and ends") {
  if (test::races_are_checked) return;  // a switch orders nothing: ThreadSanitizer would be right
  coroutine c([](coroutine& self) {
    self.text += "a";
    self.yield();
    self.text += "b";
    self.yield();
    self.text += "c";
  });
  for (const char* expected : {"a", "ab", "abc"}) {
    CHECK(!c.over());
    c.resume();
    CHECK(c.text == expected);
  }
  CHECK(c.over());
}

TEST_CASE("context: the exceptions in flight go along, also to another thread") {
  if (test::races_are_checked) return;  // a switch orders nothing: ThreadSanitizer would be right
  coroutine c([](coroutine& self) {
    try {
      throw std::runtime_error("inside");
    } catch (const std::exception&) {
      self.yield();
      self.text = current_message();
      self.yield();
      try {
        throw;
      } catch (const std::exception& again) {
        self.text += again.what();
      }
    }
    self.text += current_message();
  });
  try {
    throw std::runtime_error("outside");
  } catch (const std::exception&) {
    c.resume();
    CHECK(current_message() == "outside");
    std::thread([&] {
      c.resume();
      CHECK(current_message() == "none");
    }).join();
    CHECK(c.text == "inside");
    c.resume();
    CHECK(current_message() == "outside");
  }
  CHECK(c.text == "insideinsidenone");
  CHECK(c.over());
}

TEST_CASE("context: the rounding mode goes along, too") {
  if (test::races_are_checked) return;  // a switch orders nothing: ThreadSanitizer would be right
  coroutine c([](coroutine& self) {
    std::fesetround(FE_UPWARD);
    self.yield();
    self.text = std::fegetround() == FE_UPWARD ? "kept" : "lost";
  });
  c.resume();
  CHECK(std::fegetround() == FE_TONEAREST);
  c.resume();
  CHECK(c.text == "kept");
  CHECK(std::fegetround() == FE_TONEAREST);
}

namespace {

cpu_set_t allowed() {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof(set), &set) == 0);
  return set;
}

}  // namespace

// Tried with a start that always keeps the thread off, and with a thread that stays narrowed until it is first woken:
// fails.
TEST_CASE("thread: starts on the processor of the thread that starts it, or off it; then it may use all") {
  const cpu_set_t before = allowed();
  if (CPU_COUNT(&before) < 2) return;
  struct seen {
    int cpu;
    cpu_set_t mask;
  };
  for (const os::placement where : {os::placement::elsewhere, os::placement::here}) {
    unsigned there = 0;
    for (unsigned rounds = 0; rounds < 20;) {
      os::thread thread;
      seen first;
      const int here = sched_getcpu();
      REQUIRE(thread.start(
          [](void* to) noexcept {
            auto& mine = *static_cast<seen*>(to);
            mine.cpu = sched_getcpu();
            sched_getaffinity(0, sizeof(mine.mask), &mine.mask);
          },
          &first, where));
      const bool stayed = sched_getcpu() == here;
      thread.join();
      CHECK(CPU_EQUAL(&first.mask, &before));
      if (!stayed) continue;
      ++rounds;
      there += (first.cpu == here) == (where == os::placement::here);
    }
    CHECK(there > 15);  // a busy system may move it before it looks
  }
}

// Tried without restoring the processors that were allowed before: fails.
TEST_CASE("thread: kept off a processor or left one, it may use all of them again") {
  const cpu_set_t before = allowed();
  os::thread thread;
  std::atomic<int> id = 0, turn = 0;
  cpu_set_t after;
  std::thread sleeper([&] {
    thread.adopt_caller();
    id = gettid();
    for (const int end : {2, 4}) {
      while (turn != end - 1) std::this_thread::yield();
      thread.use_all_cpus();
      sched_getaffinity(0, sizeof(after), &after);
      turn = end;
    }
  });
  while (id == 0) std::this_thread::yield();
  for (const int begin : {0, 2}) {
    cpu_set_t here, narrowed;
    const auto narrow = [&] {
      begin == 0 ? thread.keep_off_this_cpu() : thread.leave_it_this_cpu();
      sched_getaffinity(id, sizeof(narrowed), &narrowed);
    };
    // The thread is pinned meanwhile, so that the test knows "this processor".
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    sched_setaffinity(0, sizeof(here), &here);
    narrow();
    sched_setaffinity(0, sizeof(before), &before);
    cpu_set_t common;
    CPU_AND(&common, &narrowed, &here);
    if (CPU_COUNT(&before) > 1) CHECK(CPU_COUNT(&common) == (begin == 0 ? 0 : CPU_COUNT(&narrowed)));
    turn = begin + 1;
    while (turn != begin + 2) std::this_thread::yield();
    CHECK(CPU_EQUAL(&before, &after));
  }
  sleeper.join();
}
