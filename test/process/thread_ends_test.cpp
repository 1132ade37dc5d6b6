// Code that ends its process or its thread from inside of a runtime: what the library says then. By exit, which
// destroys a static runtime; by pthread_exit and pthread_cancel, where glibc would say "FATAL: exception not rethrown".

#include <pthread.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

fj::runtime& of_the_program() {
  static fj::runtime rt(test::with_procs(2));
  return rt;
}

int exit_in_run() {
  of_the_program().run([] { std::exit(3); });
  return 0;
}

int exit_in_fiber() {
  of_the_program().go([] { std::exit(3); }).get();
  return 0;
}

int exit_in_blocking() {
  of_the_program().go([] { fj::blocking([] { std::exit(3); }); }).get();
  return 0;
}

// The remedies.
int quick_exit_in_fiber() {
  of_the_program().go([] { std::quick_exit(3); }).get();
  return 0;
}

int exit_in_fiber_of_default() {
  fj::go([] { std::exit(3); }).get();
  return 0;
}

void cancel_this_thread() {
  pthread_cancel(pthread_self());
  pthread_testcancel();
}

template <void (*End)()>
int in_run() {
  fj::run([] { End(); });
  return 0;
}
template <void (*End)()>
int in_fiber() {
  fj::go([] { End(); }).get();
  return 0;
}
template <void (*End)()>
int in_first_branch() {
  fj::run([] { fj::fork_join([] { End(); }, [] {}); });
  return 0;
}
template <void (*End)()>
int in_stolen_branch() {
  fj::runtime rt(test::with(2, test::stealing::every_fork));
  rt.run([] { fj::fork_join([] {}, [] { End(); }); });
  return 0;
}
template <void (*End)()>
int in_scope() {
  fj::run([] { fj::with_scope([](fj::scope& s) { s.fork([] { End(); }); }); });
  return 0;
}
template <void (*End)()>
int in_turn() {
  fj::runtime rt(test::with(2, test::stealing::every_fork));
  rt.run([] {
    fj::fork_each(0, 10, [](int i) {
      if (i == 5) End();
    });
  });
  return 0;
}

void exit_this_thread() { pthread_exit(nullptr); }

}  // namespace

int main() {
  test::verdict verdict;
  const auto aborts = [&](const std::string& what, auto body, const char* says) {
    const test::ending end = test::in_child(body, 60);
    verdict.check(end.signal == SIGABRT, what + ": ended with signal " + std::to_string(end.signal) + ", code " +
                                             std::to_string(end.code) + (end.too_late ? ", too late" : ""));
    verdict.contains(end.said, says, what);
  };
  for (const auto& [what, body] : {std::pair("exit in run", &exit_in_run), std::pair("exit in a fiber", &exit_in_fiber),
                                   std::pair("exit in a blocking call", &exit_in_blocking)}) {
    aborts(what, body, "forkjoin: a runtime was destroyed by code that ");
    aborts(what, body, "If that code called exit, which destroys static objects: return from run first");
  }
  for (const auto body : {&quick_exit_in_fiber, &exit_in_fiber_of_default}) {
    const test::ending end = test::in_child(body, 60);
    verdict.check(end.code == 3 && end.said.empty(),
                  "a remedy: code " + std::to_string(end.code) + ", said " + end.said);
  }
  // Tried with handlers that keep what they catch without a look: glibc's message.
  const char* const thread = "forkjoin: pthread_exit was called by code that runs in a runtime, or pthread_cancel";
  aborts("pthread_exit in run", &in_run<exit_this_thread>, thread);
  aborts("pthread_exit in a fiber", &in_fiber<exit_this_thread>, thread);
  aborts("pthread_exit in a first branch", &in_first_branch<exit_this_thread>, thread);
  aborts("pthread_exit in a stolen branch", &in_stolen_branch<exit_this_thread>, thread);
  aborts("pthread_exit in a scope's child", &in_scope<exit_this_thread>, thread);
  aborts("pthread_exit in a turn", &in_turn<exit_this_thread>, thread);
  aborts("pthread_cancel in run", &in_run<cancel_this_thread>, thread);
  aborts("pthread_cancel in a fiber", &in_fiber<cancel_this_thread>, thread);
  aborts("pthread_cancel in a stolen branch", &in_stolen_branch<cancel_this_thread>, thread);
  return verdict.exit_code();
}
