#include "runtime/os/thread.hpp"

#include "runtime/os/backtrace.hpp"
#include "runtime/os/interrupt.hpp"
#include "runtime/os/stop_threads.hpp"

#include <cxxabi.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <type_traits>

// The Itanium C++ ABI's name of the module that this code is in. Under a name of its own: the compiler declares
// __dso_handle itself, in another way, once it has needed it.
extern "C" [[gnu::visibility("hidden")]] void* forkjoin_v0_2_this_module asm("__dso_handle");

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

static_assert(std::is_same_v<pthread_t, unsigned long>);

void* thread::first_frame(void* self) noexcept {
  auto* thread = static_cast<class thread*>(self);
  thread->adopt_caller();
  note_first_frame();
  if (thread->turn_) turns::arrive(*thread->turn_);
  thread->body_(thread->argument_);
  if (thread->turn_) turns::mine()->leave();
  return nullptr;
}

// Puts into `to` those CPUs of allowed_. False if that leaves no choice.
bool thread::narrow(cpu_set_t& to, placement where) noexcept {
  to = allowed_;
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return false;
  CPU_CLR(here, &to);
  if (CPU_COUNT(&to) == 0) return false;
  if (where == placement::here) CPU_XOR(&to, &to, &allowed_);  // what was taken away
  return CPU_COUNT(&to) > 0;
}

bool thread::start(void (*body)(void*) noexcept, void* argument, placement where) noexcept {
  body_ = body;
  argument_ = argument;
  turns* const in_turn = turns::mine();
  if (in_turn) turn_ = &in_turn->begin();
  // The application's asynchronous signals are for its own threads, so the runtime's threads start with them blocked.
  sigset_t all, before;
  sigfillset(&all);
  // Signals that a thread causes itself must reach it: blocked, they end the process. SIGSYS is a sandbox's answer to a
  // system call (SECCOMP_RET_TRAP).
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) sigdelset(&all, fault);
  if (backtraces_allowed()) sigdelset(&all, SIGURG);
  if (interrupt_signal() != 0) sigdelset(&all, interrupt_signal());
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = EINVAL;
  cpu_set_t narrowed;
  pthread_attr_t attributes;
  if (sched_getaffinity(0, sizeof(allowed_), &allowed_) == 0 && narrow(narrowed, where) &&
      pthread_attr_init(&attributes) == 0) {
    narrowed_ = true;  // before the thread can read it
    if (pthread_attr_setaffinity_np(&attributes, sizeof(narrowed), &narrowed) == 0)
      error = pthread_create(&handle_, &attributes, &thread::first_frame, this);
    pthread_attr_destroy(&attributes);
    if (error != 0) narrowed_ = false;
  }
  // A sandbox may forbid to choose CPUs.
  if (error != 0) error = pthread_create(&handle_, nullptr, &thread::first_frame, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    body_ = nullptr;
    if (in_turn) in_turn->refused(*turn_);
  }
  return error == 0;
}

void thread::adopt_caller() noexcept {
  // Each call of run from outside asks. fork(2) gives the thread of the child another number.
  struct number {
    int id;
    unsigned generation;
  };
  static constinit thread_local number mine{0, 0};
  if (mine.id == 0 || mine.generation != process_generation())
    mine = {static_cast<int>(syscall(SYS_gettid)), process_generation()};
  id_.store(mine.id, std::memory_order_relaxed);
}

void thread::keep_off_this_cpu() noexcept { wake_on(placement::elsewhere); }

void thread::leave_it_this_cpu() noexcept { wake_on(placement::here); }

void thread::wake_on(placement where) noexcept {
  const int id = id_.load(std::memory_order_relaxed);
  cpu_set_t to;
  // Read anew each time: the user may have pinned the thread meanwhile.
  if (narrowed_ || id == 0 || sched_getaffinity(id, sizeof(allowed_), &allowed_) != 0 || !narrow(to, where)) return;
  narrowed_ = sched_setaffinity(id, sizeof(to), &to) == 0;
}

void thread::use_all_cpus() noexcept {
  if (!narrowed_) return;
  narrowed_ = false;
  // If the thread had all CPUs of its cpuset, it asks for all of the machine: a smaller mask would outlast a
  // change of the cpuset (Linux 6.2 remembers the mask that was asked for).
  cpu_set_t all, left;
  std::memset(&all, 0xff, sizeof(all));
  if (sched_setaffinity(0, sizeof(all), &all) == 0 && sched_getaffinity(0, sizeof(left), &left) == 0 &&
      CPU_EQUAL(&left, &allowed_))
    return;
  sched_setaffinity(0, sizeof(allowed_), &allowed_);
}

void thread::join() noexcept {
  if (turns* const in_turn = turns::mine(); in_turn && turn_) in_turn->await_end(*turn_);
  pthread_join(handle_, nullptr);
}

namespace {

// Linux's struct sched_attr in its first version. Some C libraries have a header for it, and some kernels' header clashes with that.
struct thread_attributes {
  std::uint32_t size = 48, policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;
};

// The least that Linux grants. Since 6.12 a thread that wakes up need not wait for the end of another's longer slice.
constexpr std::uint64_t short_slice_ns = 100'000;

}  // namespace

void wake_in_time() noexcept {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  thread_attributes mine;
  if (syscall(SYS_sched_getattr, 0, &mine, sizeof(mine), 0) != 0 || mine.policy != SCHED_OTHER) return;
  mine.runtime = short_slice_ns;
  syscall(SYS_sched_setattr, 0, &mine, 0);
}

void name_thread(const char* text, unsigned number) noexcept {
  char name[16];  // what Linux keeps
  std::snprintf(name, sizeof(name), "%s%u", text, number);
  pthread_setname_np(pthread_self(), name);
}

void yield_thread() noexcept {
  if (turns* const all = turns::mine()) return all->pass();
  sched_yield();
}

namespace {
constexpr const char* folder_of_threads = "/proc/self/task";
}

// A folder has two links, and one more for each folder in it.
unsigned count_threads() noexcept {
  struct stat found;
  if (stat(folder_of_threads, &found) != 0 || found.st_nlink < 3) return 0;
  return static_cast<unsigned>(found.st_nlink) - 2;
}

bool are_threads(unsigned count) noexcept {
  DIR* const folder = opendir(folder_of_threads);
  if (!folder) return false;
  unsigned found = 0;
  while (const dirent* const entry = readdir(folder)) found += entry->d_name[0] != '.';
  closedir(folder);
  return found == count;
}

cpu_time time_of_threads() noexcept {
  DIR* const folder = opendir(folder_of_threads);
  cpu_time sum;
  if (!folder) return sum;
  while (const dirent* const entry = readdir(folder)) {
    char name[64];
    if (entry->d_name[0] == '.') continue;
    std::snprintf(name, sizeof(name), "%s/%.20s/schedstat", folder_of_threads, entry->d_name);
    std::FILE* const file = std::fopen(name, "re");
    if (!file) continue;
    unsigned long long ran = 0, queued = 0;
    if (std::fscanf(file, "%llu %llu", &ran, &queued) == 2) {
      sum.ran += ran;
      sum.queued += queued;
    }
    std::fclose(file);
  }
  closedir(folder);
  return sum;
}

bool at_fork(void (*before)(), void (*after)(), void (*in_child)()) noexcept {
  static_cast<void>(pthread_atfork(before, after, in_child));
  return true;
}

namespace {
std::atomic<unsigned> generation{0};
void count_generation() { generation.fetch_add(1, std::memory_order_relaxed); }
// Before any thread: in the copy of a process none would end what another thread had begun at its first call.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, count_generation);
}  // namespace

void at_thread_end(void (*end)(void*), void* argument) noexcept {
  abi::__cxa_thread_atexit(end, argument, &forkjoin_v0_2_this_module);  // as a compiler does for a thread_local object
}

unsigned process_id() noexcept { return static_cast<unsigned>(getpid()); }

unsigned process_generation() noexcept { return generation.load(std::memory_order_relaxed); }

}}}}  // namespace fj::v0_2::detail::os
