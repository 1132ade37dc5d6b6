#include "runtime/os/context/context.hpp"
#include "runtime/os/context/switch_context.hpp"

#include <cxxabi.h>
#include <pthread.h>

#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <new>

#ifdef FORKJOIN_ADDRESSES_ARE_CHECKED
#include <sanitizer/asan_interface.h>
#endif
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(start, end) 0u
#define VALGRIND_STACK_DEREGISTER(id) static_cast<void>(id)
#endif

// Part of the C++ ABI, and in every library for it, but libc++abi's header does not declare it.
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals() noexcept;
}  // namespace __cxxabiv1

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

#if defined(__x86_64__)

float_environment get_float_environment() noexcept {
  float_environment environment;
  asm volatile("stmxcsr %0" : "=m"(environment.control));
  asm volatile("fnstcw %0" : "=m"(environment.x87_control));
  return environment;
}

void set_float_environment(const float_environment& environment) noexcept {
  asm volatile("ldmxcsr %0" : : "m"(environment.control));
  asm volatile("fldcw %0" : : "m"(environment.x87_control));
}

#elif defined(__aarch64__)

float_environment get_float_environment() noexcept {
  std::uint64_t control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return {static_cast<unsigned>(control)};
}

void set_float_environment(const float_environment& environment) noexcept {
  const std::uint64_t control = environment.control;
  asm volatile("msr fpcr, %0" : : "r"(control));
}

#else  // rounding alone; riscv64 has no traps

float_environment get_float_environment() noexcept { return {static_cast<unsigned>(std::fegetround())}; }
void set_float_environment(const float_environment& environment) noexcept {
  std::fesetround(static_cast<int>(environment.control));
}

#endif

namespace {

#ifdef FORKJOIN_ADDRESSES_ARE_CHECKED
// The stack that this thread switched to last; none before its first switch.
struct stack_bounds {
  std::byte* bottom = nullptr;
  std::size_t size = 0;
};
thread_local stack_bounds this_threads_stack;
#endif

FORKJOIN_BETWEEN_STACKS void first_frame(void* fresh, std::uintptr_t threads) noexcept {
  FORKJOIN_OUTERMOST_FRAME;
  context& self = *static_cast<context*>(fresh);
  happens_after(self.stack_bottom);  // the strand that had this stack before is no rival
  arrive_on_thread(self, threads);
  self.entry(self.argument);
  std::abort();  // an entry never returns
}

}  // namespace

#ifdef FORKJOIN_ADDRESSES_ARE_CHECKED
FORKJOIN_BETWEEN_STACKS void announce_stack(void** fake_stack, const context& next) noexcept {
  __sanitizer_start_switch_fiber(fake_stack, next.stack_bottom, next.stack_size);
  this_threads_stack = {next.stack_bottom, next.stack_size};
}
#endif

// __cxa_get_globals is declared const, so compilers merge the calls before and after a switch: hence noinline, and the
// assembly that makes this function impure.
[[gnu::noinline]] exception_globals& this_threads_exceptions() noexcept {
  asm volatile("" ::: "memory");
  return *reinterpret_cast<exception_globals*>(__cxxabiv1::__cxa_get_globals());
}

FORKJOIN_BETWEEN_STACKS exception_globals exchange_exceptions(exception_globals& threads,
                                                              const exception_globals& by) noexcept {
  const exception_globals before = threads;
  threads = by;
  return before;
}

constinit exception_globals between_handlers{&between_handlers, 0};

FORKJOIN_BETWEEN_STACKS bool handles_any(const exception_globals* threads) noexcept {
  // The C++ runtime stores it, and not atomically; but as one word.
  return threads && __atomic_load_n(&threads->caught, __ATOMIC_RELAXED) != nullptr;
}

static_assert(sizeof(std::exception_ptr) == sizeof(void*), "it is the address of the exception");

void* handled_exception(const exception_globals& mine) noexcept {
  void* exception = nullptr;
  if (!mine.caught) [[likely]]
    return exception;
  const std::exception_ptr current = std::current_exception();
  std::memcpy(&exception, &current, sizeof(exception));
  return exception;  // its handler keeps it
}

std::exception_ptr pointer_to(const void* exception) noexcept {
  alignas(std::exception_ptr) std::byte place[sizeof(std::exception_ptr)];
  std::memcpy(place, &exception, sizeof(place));
  return *std::launder(reinterpret_cast<const std::exception_ptr*>(place));  // the copy counts, the place does not
}

void end_handlers(const exception_globals& mine) noexcept {
  while (mine.caught) abi::__cxa_end_catch();
}

void give_stack(context& fresh, std::byte* bottom, std::size_t size) noexcept {
  fresh.stack_bottom = bottom;
  fresh.stack_size = size;
  fresh.valgrind_stack = VALGRIND_STACK_REGISTER(bottom, bottom + size);
}

FORKJOIN_BETWEEN_STACKS void make_context(context& fresh, void* top, context_entry entry, void* argument) noexcept {
#ifdef FORKJOIN_ADDRESSES_ARE_CHECKED
  // The frames of a strand that ended by switching away were never popped, so their red zones are still poisoned.
  constexpr std::size_t last_frames = 4096;
  __asan_unpoison_memory_region(static_cast<std::byte*>(top) - last_frames, last_frames);
#endif
#ifdef FORKJOIN_RACE_DETECTOR
  if (fresh.tsan_fiber) __tsan_destroy_fiber(fresh.tsan_fiber);
  fresh.tsan_fiber = __tsan_create_fiber(0);
#endif
  fresh.entry = entry;
  fresh.argument = argument;
  fresh.registers = forkjoin_v0_4_fresh_stack(top, &first_frame, &fresh);
  fresh.exceptions = {};
  fresh.fake_stack = nullptr;
}

void adopt_native_stack([[maybe_unused]] context& native) noexcept {
#ifdef FORKJOIN_ADDRESSES_ARE_CHECKED
  if (this_threads_stack.size != 0) {  // perhaps a fiber's, for a run in a blocking call
    native.stack_bottom = this_threads_stack.bottom;
    native.stack_size = this_threads_stack.size;
    return;
  }
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* bottom = nullptr;
    pthread_attr_getstack(&attributes, &bottom, &native.stack_size);
    native.stack_bottom = static_cast<std::byte*>(bottom);
    pthread_attr_destroy(&attributes);
  }
#endif
#ifdef FORKJOIN_RACE_DETECTOR
  native.tsan_fiber = __tsan_get_current_fiber();
#endif
}

void drop_context(context& dead) noexcept {
#ifdef FORKJOIN_RACE_DETECTOR
  if (dead.tsan_fiber) __tsan_destroy_fiber(dead.tsan_fiber);
  dead.tsan_fiber = nullptr;
#endif
  if (dead.stack_bottom) VALGRIND_STACK_DEREGISTER(dead.valgrind_stack);
}

FORKJOIN_BETWEEN_STACKS void finish_context(context& self, context& next, exception_globals& threads) noexcept {
  happens_before(self.stack_bottom);
  announce_switch(nullptr, next);  // a null place for the fake stack tells ASan that this stack ends
  forkjoin_v0_4_switch_stack(&self.registers, next.registers, reinterpret_cast<std::uintptr_t>(&threads));
}

strand_on_top::strand_on_top(const float_environment& floats) noexcept : floats_below_(get_float_environment()) {
  below_.exceptions = exchange_exceptions(this_threads_exceptions(), {});
  set_float_environment(floats);
}

strand_on_top::~strand_on_top() {
  set_float_environment(floats_below_);
  exchange_exceptions(this_threads_exceptions(), below_.exceptions);
}

}}}}  // namespace fj::v0_4::detail::os
