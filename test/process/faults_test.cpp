// A program that handles SIGSEGV itself, or has a stack for its handlers, keeps both when it starts a runtime. And a runtime
// that is destroyed by code inside of it says so.

#include <cstdint>
#include <memory>

#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

int* volatile somewhere = nullptr;
bool wants_details = false;

[[noreturn]] void end(int signal, bool as_expected) { _exit(signal == SIGSEGV && as_expected ? 7 : 8); }

void handle(int signal) { end(signal, !wants_details); }

void handle_with_details(int signal, siginfo_t* info, void* context) {
  end(signal, wants_details && info->si_addr == somewhere && context);
}

int fault(bool details, bool inside) {
  wants_details = details;
  struct sigaction action = {};
  if (details) {
    action.sa_sigaction = handle_with_details;
    action.sa_flags = SA_SIGINFO;
  } else {
    action.sa_handler = handle;
  }
  sigaction(SIGSEGV, &action, nullptr);
  fj::runtime rt(test::with_procs(2));
  rt.run([] {});
  somewhere = reinterpret_cast<int*>(std::uintptr_t{64});
  if (inside) rt.run([] { *somewhere = 1; });
  *somewhere = 1;
  return 0;
}

// 0 if the stack is still the program's own after a run.
int keep_alternate_stack() {
  static char memory[64 << 10];
  stack_t own = {}, present = {};
  own.ss_sp = memory;
  own.ss_size = sizeof(memory);
  sigaltstack(&own, nullptr);
  fj::runtime rt(test::with_procs(1));
  rt.run([] {});
  sigaltstack(nullptr, &present);
  return present.ss_sp == memory && present.ss_size == sizeof(memory) && present.ss_flags == 0 ? 0 : 1;
}

int destroy_inside() {
  auto rt = std::make_unique<fj::runtime>(test::with_procs(2));
  rt->run([&] { rt.reset(); });
  return 0;
}

}  // namespace

int main() {
  test::verdict verdict;
  const auto told = [](const test::ending& end) {
    return ": exit code " + std::to_string(end.code) + ", signal " + std::to_string(end.signal) + ", said " + end.said;
  };
  for (const bool details : {false, true})
    for (const bool inside : {false, true}) {
      const test::ending end = test::in_child([=] { return fault(details, inside); });
      verdict.check(end.code == 7, std::string("a handler ") + (details ? "with details, " : "") +
                                       (inside ? "inside" : "outside") + told(end));
    }
  const test::ending kept = test::in_child(&keep_alternate_stack);
  verdict.check(kept.code == 0, "the stack for handlers" + told(kept));
  const test::ending inside = test::in_child(&destroy_inside, 10);
  verdict.check(inside.signal == SIGABRT, "destroyed inside" + told(inside));
  verdict.contains(inside.said, "destroyed by code that runs in it", "destroyed inside");
  return verdict.exit_code();
}
