#include "runtime/os/signal_thread.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "runtime/os/interrupt.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

// Its address comes with the signals that the library sends. Those of the program's raise, pthread_kill and sigqueue
// have another one or none.
constexpr char sent_by_library = 0;
std::atomic<bool> sends_unmarked{false};  // the system refuses such signals

}  // namespace

int this_thread() noexcept { return static_cast<int>(syscall(SYS_gettid)); }

bool is_this_thread(int thread) noexcept { return this_thread() == thread; }

bool signal_thread(int thread, int signal) noexcept { return syscall(SYS_tgkill, getpid(), thread, signal) == 0; }

bool interrupt_thread(int thread, int signal) noexcept {
  if (!sends_unmarked.load(std::memory_order_relaxed)) {
    siginfo_t about{};
    about.si_signo = signal;
    about.si_code = SI_QUEUE;
    about.si_pid = getpid();
    about.si_uid = getuid();
    about.si_value.sival_ptr = const_cast<char*>(&sent_by_library);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), thread, signal, &about) == 0) return true;
    if (errno != ENOSYS && errno != EPERM && errno != EACCES) return false;
    sends_unmarked.store(true, std::memory_order_relaxed);
  }
  return signal_thread(thread, signal);
}

// Not seen by ThreadSanitizer, to which each strand is a thread.
__attribute__((no_sanitize("thread"))) bool is_interrupt(const siginfo_t& about) noexcept {
  if (about.si_code == SI_QUEUE) return about.si_value.sival_ptr == &sent_by_library;
  return about.si_code == SI_TKILL && about.si_pid == getpid() && sends_unmarked.load(std::memory_order_relaxed);
}

}}}}  // namespace fj::v0_4::detail::os
