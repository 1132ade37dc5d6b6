#include "runtime/os/memory/heap_blocks.hpp"

#include <cstddef>
#include <cstdint>

#include "forkjoin/abi/os/address_checker.hpp"
#include "forkjoin/abi/os/race_detector.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

std::uintptr_t word(std::uintptr_t address) noexcept { return *reinterpret_cast<const std::uintptr_t*>(address); }

constexpr std::uintptr_t is_mapped = 2, flags = 7, header = 16, least = 32;
constexpr std::uintptr_t page = 4096, used_at = 16, readable_at = 24, most_header = 0x100;  // of heap_info

}  // namespace

const char* heap_reader::why_not_here() noexcept {
#if defined(FORKJOIN_ADDRESSES_ARE_CHECKED) || defined(FORKJOIN_RACE_DETECTOR)
  return "the library was built with a sanitizer";
#elif !defined(__GLIBC__)
  return "the C library is not glibc";
#elif !defined(__x86_64__) && !defined(__aarch64__)
  return "the processor is not x86-64 or 64-bit Arm";
#else
  return nullptr;
#endif
}

// Adds the blocks from the chunk `at` on; returns where what it found was no chunk, or `end`.
std::uintptr_t heap_reader::walk(std::uintptr_t at, std::uintptr_t end) noexcept {
  // The structure tcache_perthread_struct of the thread that made the region is the first chunk there.
  constexpr std::uintptr_t cache_sizes[] = {0x290, 0x250, 0x310};
  for (bool first = true; at + header <= end; first = false) {
    const std::uintptr_t sized = word(at + sizeof(at));
    const std::uintptr_t size = sized & ~flags;
    if (size == header && end - at == 2 * header && (word(at + header + sizeof(at)) & ~flags) == 0)
      return end;  // fence posts
    if (sized & is_mapped || size < least || size % header != 0 || size > end - at) return at;
    if (at + size == end) return end;  // the top chunk: free
    if (end - at - size < header) return at;
    const bool is_used = word(at + size + sizeof(at)) & 1;
    bool is_cache = false;
    for (const std::uintptr_t each : cache_sizes) is_cache |= first && size == each;
    if (is_used) blocks_.push({.begin = at + header, .end = at + size + sizeof(at), .is_opaque = is_cache});
    at += size;
  }
  return at;
}

// heap_info: the arena, the region before, how much is in use, how much may be read.
std::uintptr_t heap_reader::end_of_arena(std::uintptr_t begin, std::uintptr_t end) noexcept {
  if (end - begin < page) return begin;
  const std::uintptr_t arena = word(begin), used = word(begin + used_at), readable = word(begin + readable_at);
  if (used < page || used % page != 0 || used > readable || readable > arena_size || readable > end - begin)
    return begin;
  if (arena % header != 0 || arena % arena_size > most_header || arena % arena_size < least) return begin;
  return begin + readable;
}

std::uintptr_t heap_reader::read_arena(std::uintptr_t begin, std::uintptr_t end) noexcept {
  const std::uintptr_t readable_end = end_of_arena(begin, end);
  if (readable_end == begin) return begin;
  constexpr std::uintptr_t least_arena = 0x860, most_arena = 0x900;
  const std::uintptr_t arena = word(begin), used_end = begin + word(begin + used_at);
  const bool is_first = arena - begin < most_header;  // of its arena
  const std::uintptr_t from = is_first ? arena + least_arena : begin + least;
  const std::uintptr_t to = is_first ? arena + most_arena : begin + most_header;
  for (std::uintptr_t at = from; at < to; at += header) {
    const std::size_t before = blocks_.size();
    if (walk(at, used_end) == used_end && blocks_.size() > before) return readable_end;
    blocks_.shrink(before);
  }
  return begin;
}

}}}}  // namespace fj::v0_4::detail::os
