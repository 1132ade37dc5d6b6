#include "runtime/os/on_signal.hpp"

#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>

#include <cerrno>
#include <mutex>

#include "runtime/os/mutex.hpp"
#include "runtime/os/thread.hpp"

namespace fj::inline v0_1::detail::os {

namespace {

// Never destroyed: a signal may come while the process ends.
sem_t came;
thread acts;
unsigned acts_in = 0;  // process_generation: a thread does not go through fork(2)
void (*what)() noexcept = nullptr;

void handle(int) {
  const int before = errno;
  sem_post(&came);  // async-signal-safe
  errno = before;
}

void serve(void*) noexcept {
  for (;;) {
    while (sem_wait(&came) != 0) {}
    while (sem_trywait(&came) == 0) {}
    what();
  }
}

}  // namespace

bool on_signal(int number, void (*act)() noexcept) noexcept {
  static os::mutex starting;
  const std::lock_guard lock(starting);
  if (!acts.started() || acts_in != process_generation()) {
    what = act;
    acts_in = process_generation();
    if (sem_init(&came, 0, 0) != 0 || !acts.start(&serve, nullptr)) return false;
  }
  struct sigaction by{};
  by.sa_handler = &handle;
  by.sa_flags = SA_RESTART;
  return sigaction(number, &by, nullptr) == 0;
}

}  // namespace fj::inline v0_1::detail::os
