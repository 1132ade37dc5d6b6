// switch_stack by Boost.Context, whose switch passes on a pointer, and what is left of the stack that it leaves.
#include "runtime/os/context/switch_context.hpp"

#ifdef FORKJOIN_BOOST_CONTEXT

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

namespace fcontext = boost::context::detail;

// What begins on a fresh stack; lies at its top. Its address plus one stands for the strand until then.
struct beginning {
  fcontext::fcontext_t at;
  fresh_call f;
  void* argument;
};

// What a switch passes on.
struct handover {
  void** saved;
  const beginning* begins;  // nullptr: what goes on has been saved
  std::uintptr_t value;
};

// The floating-point control words of the strand that leaves. For x86-64 fcontext keeps them itself.
class kept_floats {
#if !defined(__x86_64__)
 public:
  ~kept_floats() { set_float_environment(floats_); }

 private:
  const float_environment floats_ = get_float_environment();
#endif
};

FORKJOIN_BETWEEN_STACKS std::uintptr_t arrive(const fcontext::transfer_t& transfer) noexcept {
  const handover& from = *static_cast<const handover*>(transfer.data);
  *from.saved = transfer.fctx;
  return from.value;
}

FORKJOIN_BETWEEN_STACKS void begin(fcontext::transfer_t transfer) noexcept {
  FORKJOIN_OUTERMOST_FRAME;
  const beginning* const self = static_cast<const handover*>(transfer.data)->begins;
  self->f(self->argument, arrive(transfer));
  std::abort();  // f never returns
}

}  // namespace

FORKJOIN_BETWEEN_STACKS std::uintptr_t forkjoin_v0_4_switch_stack(void** saved, void* next, std::uintptr_t value) {
  [[maybe_unused]] const kept_floats floats;
  const auto address = reinterpret_cast<std::uintptr_t>(next);
  const auto* const begins = address & 1 ? reinterpret_cast<const beginning*>(address - 1) : nullptr;
  handover made{saved, begins, value};
  return arrive(fcontext::jump_fcontext(begins ? begins->at : next, &made));
}

FORKJOIN_BETWEEN_STACKS void* forkjoin_v0_4_fresh_stack(void* top, fresh_call f, void* argument) {
  constexpr std::uintptr_t alignment = 16;
  const std::uintptr_t place = (reinterpret_cast<std::uintptr_t>(top) - sizeof(beginning)) & ~(alignment - 1);
  constexpr std::size_t any_size = 0;  // only Windows makes use of it
  fcontext::fcontext_t at = fcontext::make_fcontext(reinterpret_cast<void*>(place), any_size, begin);
  return reinterpret_cast<std::byte*>(new (reinterpret_cast<void*>(place)) beginning{at, f, argument}) + 1;
}

}}}}  // namespace fj::v0_4::detail::os

#endif
