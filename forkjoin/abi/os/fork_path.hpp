// The fast path of a fork in assembly, for x86-64: push and pop of forkjoin/abi/record.hpp on the current deque. The
// instructions are those that the compilers generate, except that they compare with memory directly.
//
// The reason: g++ counts every std::atomic access as a function call when it decides about inlining, so g++ never
// inlined functions that fork into each other. With one `asm inline` g++ inlines them, and unrolls the recursion as in
// a serial program. runtime/README.md has the figures.
//
// Cold paths must not cost the fast one a register: a function that forks would save and restore that register each
// time it is called.
//
// The layout of a deque: newest at 0, request at 8, guard at 16; a record begins with its link; record.hpp asserts it.
// The orders and their partners are those of record.hpp: x86 keeps stores in order and loads in order, which is all
// that release and acquire require; "memory" keeps the compiler from moving accesses across, as light_fence does.
// ThreadSanitizer cannot see into assembly and gets the C++.
#pragma once

#include <cstdint>

#include "forkjoin/abi/os/race_detector.hpp"
#include "forkjoin/abi/os/thread_local.hpp"

#if defined(__x86_64__) && !defined(FORKJOIN_RACE_DETECTOR)
#define FORKJOIN_FORK_PATH 1
#endif

/// A function of a cold path that saves nearly all registers, so that its caller need not: an exception can stay in
/// %rax, where the unwinder has put it. g++ has no such convention that includes vector registers.
#if defined(__clang__) && defined(__x86_64__)
#define FORKJOIN_CALLEE_SAVES __attribute__((preserve_most))
#else
#define FORKJOIN_CALLEE_SAVES
#endif

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Whether the compiler inlines a function into itself. g++ does, several levels deep.
#ifdef __clang__
constexpr bool inlines_recursion = false;
#else
constexpr bool inlines_recursion = true;
#endif

}}}}  // namespace fj::v0_4::detail::os

#ifdef FORKJOIN_FORK_PATH

#define FORKJOIN_LOAD_CURRENT_DEQUE FORKJOIN_LOAD_THREAD_LOCAL(FORKJOIN_CURRENT_DEQUE, "%[deque]")

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// As current_deque().push(record, name), where the record begins with `link`.
[[gnu::always_inline]] inline bool push_to_current(std::uint64_t& link, std::uint64_t name) noexcept {
  bool attend;
  void* deque;
  std::uint64_t older;
  asm volatile inline(FORKJOIN_LOAD_CURRENT_DEQUE
                      "\n\tmovq (%[deque]), %[older]"
                      "\n\tmovq %[older], %[link]"
                      "\n\tmovq %[name], (%[deque])"
                      "\n\tcmpq $0, 8(%[deque])"
                      : "=@ccne"(attend), [deque] "=&r"(deque), [older] "=&r"(older), [link] "=m"(link)
                      : [name] "r"(name)
                      : "memory");
  return attend;
}

/// As current_deque().pop(record), where the record begins with `link`.
[[gnu::always_inline]] inline bool pop_from_current(const std::uint64_t& link) noexcept {
  bool is_private;
  void* deque;
  std::uint64_t word;
  asm volatile inline("movq %[link], %[word]\n\t" FORKJOIN_LOAD_CURRENT_DEQUE
                      "\n\tmovq %[word], (%[deque])"
                      "\n\tmovq 16(%[deque]), %[word]"
                      "\n\tcmpq %[word], %[link]"
                      : "=@ccb"(is_private), [deque] "=&r"(deque), [word] "=&r"(word)
                      : [link] "m"(link)
                      : "memory");
  return is_private;
}

/// The same object, for a cold path. The compiler computes its address there, and does not keep it in a register until
/// then. As an operand in memory the object is one that calls may read and change from then on, all of it.
template <class Object>
[[gnu::always_inline]] inline Object& rematerialize(Object& object) noexcept {
  Object* at;
  asm volatile inline("leaq %1, %0" : "=r"(at) : "m"(reinterpret_cast<const unsigned char&>(object)));
  return *at;
}

}}}}  // namespace fj::v0_4::detail::os

#undef FORKJOIN_LOAD_CURRENT_DEQUE

#else

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

template <class Object>
[[gnu::always_inline]] inline Object& rematerialize(Object& object) noexcept {
  return object;
}

}}}}  // namespace fj::v0_4::detail::os

#endif
