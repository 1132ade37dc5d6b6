#include "runtime/os/thread.hpp"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

using kept_set = unsigned long[sizeof(cpu_set_t) / sizeof(unsigned long)];

bool read_allowed(int thread, kept_set& allowed) noexcept {
  cpu_set_t set;
  if (sched_getaffinity(thread, sizeof(set), &set) != 0) return false;
  std::memcpy(allowed, &set, sizeof(set));
  return true;
}

cpu_set_t set_of(const kept_set& allowed) noexcept {
  cpu_set_t set;
  std::memcpy(&set, allowed, sizeof(set));
  return set;
}

// Puts into `to` those CPUs of `allowed`. False if that leaves no choice.
bool narrow(const kept_set& allowed, placement where, cpu_set_t& to) noexcept {
  const cpu_set_t all = set_of(allowed);
  to = all;
  const int here = sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return false;
  CPU_CLR(here, &to);
  if (CPU_COUNT(&to) == 0) return false;
  if (where == placement::here) CPU_XOR(&to, &to, &all);  // what was taken away
  return CPU_COUNT(&to) > 0;
}

}  // namespace

int thread::create(placement where) noexcept {
  int error = EINVAL;
  cpu_set_t narrowed;
  pthread_attr_t attributes;
  if (read_allowed(0, allowed_) && narrow(allowed_, where, narrowed) && pthread_attr_init(&attributes) == 0) {
    narrowed_ = true;  // before the thread can read it
    if (pthread_attr_setaffinity_np(&attributes, sizeof(narrowed), &narrowed) == 0)
      error = pthread_create(&handle_, &attributes, &thread::first_frame, this);
    pthread_attr_destroy(&attributes);
    if (error != 0) narrowed_ = false;
  }
  // A sandbox may forbid to choose CPUs.
  if (error != 0) error = pthread_create(&handle_, nullptr, &thread::first_frame, this);
  return error;
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
  id_.store(mine.id, std::memory_order_release);  // release: pairs with the acquire in wake_on
}

void thread::keep_off_this_cpu() noexcept { wake_on(placement::elsewhere); }

void thread::leave_it_this_cpu() noexcept { wake_on(placement::here); }

void thread::wake_on(placement where) noexcept {
  const int id = id_.load(std::memory_order_acquire);  // acquire: pairs with the release in adopt_caller
  cpu_set_t to;
  // Read anew each time: the user may have pinned the thread meanwhile.
  if (id == 0 || narrowed_ || !read_allowed(id, allowed_) || !narrow(allowed_, where, to)) return;
  narrowed_ = sched_setaffinity(id, sizeof(to), &to) == 0;
}

void thread::use_all_cpus() noexcept {
  if (!narrowed_) return;
  narrowed_ = false;
  // If the thread had all CPUs of its cpuset, it asks for all of the machine: a smaller mask would outlast a
  // change of the cpuset (Linux 6.2 remembers the mask that was asked for).
  const cpu_set_t allowed = set_of(allowed_);
  cpu_set_t all, left;
  std::memset(&all, 0xff, sizeof(all));
  if (sched_setaffinity(0, sizeof(all), &all) == 0 && sched_getaffinity(0, sizeof(left), &left) == 0 &&
      CPU_EQUAL(&left, &allowed))
    return;
  sched_setaffinity(0, sizeof(allowed), &allowed);
}

namespace {

// Linux's struct sched_attr in its first version. Some C libraries have a header for it, and some kernels' header
// clashes with that.
struct thread_attributes {
  std::uint32_t size = 48, policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;
};

// The least that Linux grants. Since 6.12 a thread that wakes up need not wait for the end of another's longer slice.
constexpr std::uint64_t short_slice_ns = 100'000;

// Of the threads, before one of them was to wake in time; 0: none was.
std::atomic<int> usual_slack{0};

}  // namespace

void wake_in_time() noexcept {
  usual_slack.store(prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL), std::memory_order_relaxed);
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  thread_attributes mine;
  if (syscall(SYS_sched_getattr, 0, &mine, sizeof(mine), 0) != 0 || mine.policy != SCHED_OTHER) return;
  mine.runtime = short_slice_ns;
  syscall(SYS_sched_setattr, 0, &mine, 0);
}

void wake_as_usual() noexcept {
  const int slack = usual_slack.load(std::memory_order_relaxed);
  if (slack <= 0 || prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL) != 1) return;
  prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack), 0UL, 0UL, 0UL);
  thread_attributes mine;
  if (syscall(SYS_sched_getattr, 0, &mine, sizeof(mine), 0) != 0) return;
  if (mine.policy != SCHED_OTHER || mine.runtime != short_slice_ns) return;
  mine.runtime = 0;  // the system's own
  syscall(SYS_sched_setattr, 0, &mine, 0);
}

void name_thread(const char* text, unsigned number) noexcept {
  char name[16];  // what Linux keeps
  std::snprintf(name, sizeof(name), "%s%u", text, number);
  pthread_setname_np(pthread_self(), name);
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

}}}}  // namespace fj::v0_4::detail::os
