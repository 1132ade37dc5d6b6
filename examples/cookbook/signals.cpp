// Signals as input: they are blocked in all threads, and a fiber reads them from a descriptor. So nothing runs inside
// of a signal handler, where almost nothing is allowed.

#include <sys/signalfd.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <forkjoin/go.hpp>
#include <iostream>
#include <system_error>

fj::descriptor signals_of(std::initializer_list<int> numbers) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int each : numbers) ::sigaddset(&set, each);
  // Before the runtime starts its first thread: threads begin with the mask of the thread that starts them.
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int number = ::signalfd(-1, &set, SFD_CLOEXEC);
  if (number < 0) throw std::system_error(errno, std::system_category(), "signalfd");
  return fj::descriptor(number);
}

int main() {
  const fj::descriptor signals = signals_of({SIGINT, SIGTERM});
  fj::run([&] {
    auto work = fj::go([](fj::stop_token stop) {
      try {
        fj::sleep_for(std::chrono::hours(1), {.stop = &stop});  // stands for what the program does
      } catch (const fj::cancelled&) {}
    });
    ::kill(::getpid(), SIGTERM);  // as a shell or an init system would
    signalfd_siginfo got;
    fj::read(signals, &got, sizeof(got));
    std::cout << (got.ssi_signo == SIGTERM ? "SIGTERM: stops\n" : "another signal\n");
    work.request_stop();
    work.get();
  });
}
