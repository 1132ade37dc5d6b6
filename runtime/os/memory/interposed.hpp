// Functions of the C library that the race detector puts in the place of the library's own: in programs that are linked
// with forkjoin-races alone. They do what they always do, and tell the detector, which defines the functions below.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail { namespace os { namespace interposed {

// What the detector does about it. `pc` is where the program called the function.
void reads(const void* at, std::size_t n, void* pc) noexcept;
void writes(void* at, std::size_t n, void* pc) noexcept;
void allocated(void* at, std::size_t n, void* pc) noexcept;
/// Bytes that a block has got without a move, or that the program has got of one.
void grown(void* at, std::size_t n) noexcept;
/// A block of the heap is no more.
void ended(const void* at) noexcept;
/// The block was the program's until then; called before that, while watches_freed() alone. Of a mapped one the
/// addresses end, too: no access can follow.
void freed(const void* at, std::size_t n, bool is_mapped, void* pc) noexcept;
bool watches_freed() noexcept;
/// Of a block that the heap has handed out, with what lies behind the bytes that were asked for.
std::size_t size_of_block(const void* at) noexcept;
/// A lock, exclusive or shared, is the strand's from here on, or no longer.
void acquired(const void* lock, bool shared) noexcept;
void released(const void* lock) noexcept;
/// An atomic counter of owners was taken down, as by an atomic operation of the program.
void counted_down(const void* counter, bool to_zero) noexcept;
/// What runs in between is before all that comes.
void once_begins() noexcept;
void once_ends() noexcept;
/// Before the process ends without destructors: the exit status that it is to have.
int ends_early(int status) noexcept;
/// Ends the process: the program does what a serial run cannot do.
[[noreturn]] void refuse(const char* what) noexcept;

/// Before the first of them is called.
void find_originals() noexcept;

/// Whether fork(2) has made this process since.
bool is_copy() noexcept;

/// The C library's own memset to zero, which the detector does not see.
void zero(void* at, std::size_t n) noexcept;

/// The lowest address that the calling thread's stack may grow to.
std::uintptr_t lowest_of_stack() noexcept;

/// Where the calling thread's variables of its own lie, as the modules have them that were there at the start.
struct memory_range {
  std::uintptr_t begin = 0, end = 0;
};
memory_range thread_locals() noexcept;

/// Whether the address is in a block of the heap to which a thread-local variable of the program itself points, as
/// those of a std::vector, a std::string and a std::unique_ptr do: other threads have other blocks.
bool is_of_thread_local(std::uintptr_t at) noexcept;

/// Atomic counts are not left out because there is one thread: they would look like plain accesses.
void pretend_threads() noexcept;

}}}}}  // namespace fj::v0_4::detail::os::interposed
