// The thread that stops the others asks those that it finds in /proc, waits for their answers, and looks again, until
// it finds no new one: only a thread that runs starts another. Each stop has a number, which is odd. A thread that
// answers late, when that stop is over, finds another number and goes on; what it has written is not taken for an
// answer, as that has the number, too.
#include "runtime/os/stop_threads.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/os/interrupt.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/system_futex.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

constexpr std::size_t most_threads = 8192;
// A thread that has no CPU at the moment gets one within tens of milliseconds, also with ten ready threads for each.
constexpr std::int64_t patience_ns = 3'000'000'000;
constexpr std::int64_t between_looks_ns = 50'000;
constexpr std::int64_t between_questions_ns = 20'000'000;

struct answer {
  std::atomic<std::uint32_t> stop{0};
  stopped_thread of;
};

std::array<answer, most_threads> answers;
std::atomic<std::uint32_t> stops{0};  // odd while threads are to stop
std::atomic<std::uint32_t> answered{0};
std::uint32_t first_answer = 0, answers_end = 0;  // of the present stop, or the last
std::array<int, most_threads> asked;
// initial-exec: the signal handler must not be the first to ask for the memory of thread-locals.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uintptr_t frame_of_start = 0;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool rests = false;

// Not os::now_ns: where threads take turns that is another clock.
std::int64_t nanoseconds() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

void rest() noexcept {
  const timespec time{0, between_looks_ns};
  nanosleep(&time, nullptr);
}

bool has_answered(int thread, std::uint32_t stop) noexcept {
  // acquire: pairs with the fetch_add in answer_stop
  const std::uint32_t end = answered.load(std::memory_order_acquire);
  for (std::uint32_t i = first_answer; i != end; ++i) {
    const answer& a = answers[i % most_threads];
    // acquire: pairs with the release in answer_stop
    if (a.stop.load(std::memory_order_acquire) == stop && a.of.id == thread) return true;
  }
  return false;
}

// What the system says of a thread: "dead" if it has ended, or runs no code any more.
enum class thread_is { dead, deaf, able };

thread_is look_at(int thread) noexcept {
  char path[64], text[4096];
  char* at = path;
  for (const char* part = "/proc/self/task/"; *part; ++part) *at++ = *part;
  char digits[16];
  int count = 0;
  for (int left = thread; left > 0; left /= 10) digits[count++] = static_cast<char>('0' + left % 10);
  while (count > 0) *at++ = digits[--count];
  std::memcpy(at, "/status", 8);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT || errno == ESRCH ? thread_is::dead : thread_is::able;
  const ssize_t got = read(file, text, sizeof(text) - 1);
  close(file);
  if (got <= 0) return thread_is::dead;
  text[got] = '\0';
  const char* const state = std::strstr(text, "State:\t");
  if (state && (state[7] == 'Z' || state[7] == 'X')) return thread_is::dead;
  const char* const blocked = std::strstr(text, "SigBlk:\t");
  if (!blocked) return thread_is::able;
  const unsigned long long set = std::strtoull(blocked + 8, nullptr, 16);
  // A thread that answers blocks the signal as well, in the handler.
  return set >> (interrupt_signal() - 1) & 1 ? thread_is::deaf : thread_is::able;
}

// Calls visit(thread) for each but the caller, as long as it returns true. False: the system does not say which there
// are.
template <class Visit>
bool for_each_other(Visit visit) noexcept {
  struct entry {
    std::uint64_t inode;
    std::int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[1];
  };
  const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  alignas(entry) char buffer[8192];
  const int me = this_thread();
  bool goes_on = true;
  long got = 0;
  while (goes_on && (got = syscall(SYS_getdents64, folder, buffer, sizeof(buffer))) > 0) {
    for (long at = 0; goes_on && at < got;) {
      const auto* const each = reinterpret_cast<const entry*>(buffer + at);
      at += each->length;
      const int thread = std::atoi(each->name);
      if (thread > 0 && thread != me) goes_on = visit(thread);
    }
  }
  close(folder);
  return got >= 0;
}

// Until it answers or is found to be unable to.
stop_failure wait_for(int thread, std::uint32_t stop, std::int64_t until) noexcept {
  std::int64_t question_at = nanoseconds() + between_questions_ns;
  for (bool heard_deaf = false; !has_answered(thread, stop); rest()) {
    const std::int64_t now = nanoseconds();
    if (now < question_at) continue;
    question_at = now + between_questions_ns;
    const thread_is state = look_at(thread);
    if (has_answered(thread, stop)) break;
    if (state == thread_is::dead) return stop_failure::none;
    // It may have been about to answer at the first look.
    if (state == thread_is::deaf && heard_deaf) return stop_failure::blocks_signal;
    heard_deaf = state == thread_is::deaf;
    if (now > until) return stop_failure::does_not_answer;
  }
  return stop_failure::none;
}

stop_outcome stop_all(std::uint32_t stop) noexcept {
  const std::int64_t until = nanoseconds() + patience_ns;
  std::size_t count = 0;
  for (std::size_t before = ~std::size_t{0}; before != count;) {
    before = count;
    bool fits = true;
    const bool known = for_each_other([&](int thread) {
      for (std::size_t i = 0; i < count; ++i)
        if (asked[i] == thread) return true;
      fits = count < most_threads / 2;
      if (!fits) return false;
      asked[count++] = thread;
      interrupt(thread);
      return true;
    });
    if (!known) return {stop_failure::unknown_threads, 0};
    if (!fits) return {stop_failure::too_many_threads, 0};
    for (std::size_t i = before; i < count; ++i)
      if (const stop_failure f = wait_for(asked[i], stop, until); f != stop_failure::none) return {f, asked[i]};
  }
  return {};
}

}  // namespace

// Not inlined: the frame is the handler's, below all that the signal has saved.
[[gnu::noinline]] void answer_stop(const void* context) noexcept {
  // acquire, here and below: pairs with the releases in stop_threads and resume_threads
  const std::uint32_t mine = stops.load(std::memory_order_acquire);
  if (mine % 2 == 0) return;
  const auto& interrupted = *static_cast<const ucontext_t*>(context);
  // release: pairs with the acquires in has_answered and stop_threads
  answer& a = answers[answered.fetch_add(1, std::memory_order_acq_rel) % most_threads];
  a.of = this_thread_stopped(0);
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto alternate = reinterpret_cast<std::uintptr_t>(interrupted.uc_stack.ss_sp);
  const std::uintptr_t alternate_end = alternate + interrupted.uc_stack.ss_size;
  if (here >= alternate && here < alternate_end) {
    constexpr std::uintptr_t red_zone = 128;
    a.of.stack_pointer = reinterpret_cast<std::uintptr_t>(stack_pointer_of(context)) - red_zone;
    a.of.registers = here;
    a.of.alternate = alternate;
    a.of.alternate_end = alternate_end;
  } else {
    a.of.stack_pointer = here;
  }
  a.stop.store(mine, std::memory_order_release);  // release: pairs with the acquire in has_answered
  while (stops.load(std::memory_order_acquire) == mine) system_futex_wait(stops, mine);
}

stop_outcome stop_threads() noexcept {
  first_answer = answered.load(std::memory_order_relaxed);
  const std::uint32_t mine = stops.load(std::memory_order_relaxed) + 1;
  stops.store(mine, std::memory_order_release);  // release: pairs with the acquire in answer_stop
  const stop_outcome outcome = stop_all(mine);
  answers_end = answered.load(std::memory_order_acquire);  // acquire: pairs with the fetch_add in answer_stop
  if (outcome.failure != stop_failure::none) resume_threads();
  return outcome;
}

void resume_threads() noexcept {
  // release: pairs with the acquire in answer_stop
  stops.store(stops.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  system_futex_wake(stops, true);
}

std::uint32_t first_answer_of_stop() noexcept { return first_answer; }
std::uint32_t end_of_answers() noexcept { return answers_end; }
const stopped_thread* answer_number(std::uint32_t index) noexcept {
  const answer& a = answers[index % most_threads];
  // acquire: pairs with the release in answer_stop
  const bool is_of_this = a.stop.load(std::memory_order_acquire) == stops.load(std::memory_order_relaxed);
  return is_of_this ? &a.of : nullptr;
}

answers_of_stops memory_of_answers() noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(answers.data());
  return {begin, begin + sizeof(answers)};
}

stopped_thread this_thread_stopped(std::uintptr_t stack_pointer) noexcept {
  return {.id = this_thread(),
          .stack_pointer = stack_pointer,
          .frames_end = frame_of_start,
          .rests = rests,
          .descriptor = static_cast<std::uintptr_t>(pthread_self())};
}

void note_rest(bool begins) noexcept { rests = begins; }

void note_first_frame() noexcept { frame_of_start = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

}}}}  // namespace fj::v0_4::detail::os
