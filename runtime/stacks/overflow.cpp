#include "runtime/stacks/overflow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "runtime/os/memory_fault.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

constexpr std::ptrdiff_t canary_words = 64;

}  // namespace

void print_overflow(const fiber& f, bool of_go) noexcept {
  os::print_error("forkjoin: stack overflow in fiber ");
  os::print_error(f.number);
  os::print_error(!f.begun   ? " (a scope's child): its stack of "
                  : f.stolen ? " (a stolen branch): its stack of "
                  : of_go    ? " (the function of fj::go): its stack of "
                             : " (the code that entered the runtime): its stack of ");
  os::print_error(f.stack_size());
  os::print_error(
      of_go ? " bytes is used up. Raise fj::options::go_stack_size or FORKJOIN_GO_STACK_SIZE, or start this fiber by "
              "fj::go({.stack_size = bytes}, f).\n"
            : " bytes is used up. Raise fj::options::stack_size or FORKJOIN_STACK_SIZE.\n");
}

void stop_if_overrun(const fiber& f) noexcept {
  const auto* const bottom = reinterpret_cast<const volatile std::uintptr_t*>(f.stack_bottom());
  if (std::all_of(bottom - canary_words, bottom, [](std::uintptr_t word) { return word == 0; })) return;
  print_overflow(f, true);  // the job may be gone already; only fibers of go lack a guard
  std::abort();
}

}}}  // namespace fj::v0_4::detail
