// call_on_stack by two switches of contexts.
#include "forkjoin/abi/context.hpp"
#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/os/context/switch_context.hpp"

#ifdef FORKJOIN_BOOST_CONTEXT

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

struct call {
  context* caller;
  context* callee;
  stack_call f;
  void* argument;
};

void first_frame(void* note) {
  // The caller's frame is there until f has made it possible to return_to it.
  const call made = [note] {
    const unseen_by_detector pause;
    return *static_cast<call*>(note);
  }();
  happens_after(made.caller);
  const std::uintptr_t value = made.f(made.argument);
  made.caller->returned = value;
  happens_before(made.caller);
  finish_context(*made.callee, *made.caller);
}

}  // namespace

std::uintptr_t call_on_stack(context& caller, context& callee, stack_call f, void* argument) noexcept {
  call made{&caller, &callee, f, argument};
  make_context(callee, argument, &first_frame, &made);
  happens_before(&caller);
  switch_context(caller, callee);
  happens_after(&caller);
  return caller.returned;
}

void return_to(context& self, context& caller, std::uintptr_t value) noexcept {
  caller.returned = value;
  finish_context(self, caller);
  __builtin_unreachable();
}

}}}}  // namespace fj::v0_4::detail::os

#endif
