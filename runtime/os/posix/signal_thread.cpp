// POSIX has no numbers of threads, so the library gives each one that asks for its own a number, and keeps a list of
// them: a signal must not be sent to a thread that has ended.
#include "runtime/os/signal_thread.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/mutex.hpp"
#include "runtime/os/interrupt.hpp"
#include "runtime/os/thread.hpp"

#define FORKJOIN_OF_THE_THREAD __attribute__((no_sanitize("thread")))

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

struct numbered {
  int number = 0;
  pthread_t handle{};
  list_links<numbered> links;
};

// initial-exec: the signal handler must not be the first to ask for the memory of thread-locals.
[[gnu::tls_model("initial-exec")]] constinit thread_local numbered mine;

constinit mutex changing;
constinit linked_list<numbered, &numbered::links> all FORKJOIN_GUARDED_BY(changing);
int last_number FORKJOIN_GUARDED_BY(changing) = 0;

void leave(void* one) noexcept {
  const locked lock(changing);
  all.remove(*static_cast<numbered*>(one));
}

// No other thread may hold the mutex while fork(2) copies it. In the child the others are missing.
void lock_changing() FORKJOIN_UNANALYSED { changing.lock(); }
void unlock_changing() FORKJOIN_UNANALYSED { changing.unlock(); }
void keep_caller() FORKJOIN_UNANALYSED {
  while (numbered* const one = all.first()) all.remove(*one);
  if (mine.number != 0) all.push(mine);
  changing.unlock();
}
[[maybe_unused]] const bool registered = at_fork(&lock_changing, &unlock_changing, &keep_caller);

}  // namespace

FORKJOIN_OF_THE_THREAD int this_thread() noexcept {
  if (mine.number == 0) {
    mine.handle = pthread_self();
    {
      const locked lock(changing);
      all.push(mine);
      mine.number = ++last_number;
    }
    at_thread_end(&leave, &mine);
  }
  return mine.number;
}

FORKJOIN_OF_THE_THREAD bool is_this_thread(int thread) noexcept { return mine.number == thread; }

bool signal_thread(int thread, int signal) noexcept {
  const locked lock(changing);
  for (numbered* each = all.first(); each; each = all.after(*each))
    if (each->number == thread) return pthread_kill(each->handle, signal) == 0;
  return false;
}

bool interrupt_thread(int thread, int signal) noexcept { return signal_thread(thread, signal); }

// Signals that the process sends to itself carry nothing: those of the program's raise, pthread_kill and kill look like
// the library's.
FORKJOIN_OF_THE_THREAD bool is_interrupt(const siginfo_t& about) noexcept {
  return about.si_pid == getpid() && about.si_code != SI_QUEUE && about.si_code != SI_TIMER;
}

}}}}  // namespace fj::v0_4::detail::os
