// The blocks that glibc's malloc has given to the program, read from its memory (malloc/malloc.c: struct malloc_chunk;
// malloc/arena.c: struct heap_info). Takes no lock and allocates nothing.
//
// The word before a chunk's contents is its size, with three flags; the next chunk follows. The lowest flag of a chunk
// says whether the one before it is in use. Nothing of this is promised, so it is checked: a region is read from its
// first chunk on, and that must lead to its very end. Where it does not, because another version of the C library
// differs or a thread was stopped in malloc, the rest of the region counts as one whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/os/memory/own_table.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

struct heap_block {
  std::uintptr_t begin, end;
  bool is_opaque;  ///< what it holds is not looked at, such as malloc's lists of what a thread has freed
  // Of the looking thread.
  bool is_marked = false, is_partial = false;
};

class heap_reader {
 public:
  /// Where this library cannot read the heap, whatever the program: why. Else nullptr.
  static const char* why_not_here() noexcept;

  explicit heap_reader(own_table<heap_block>& blocks) noexcept : blocks_(blocks) {}

  /// The region of brk(2). Returns its part, up to the end, that could not be read.
  std::uintptr_t read_main(std::uintptr_t begin, std::uintptr_t end) noexcept { return walk(begin, end); }

  /// Where a region of another arena may begin at or after `at`.
  static std::uintptr_t next_arena(std::uintptr_t at) noexcept {
    return (at + arena_size - 1) / arena_size * arena_size;
  }

  /// The end of such a region, as far as its memory ends before `end`, by what stands at its begin; `begin` if that is
  /// none. Reads the page there.
  static std::uintptr_t end_of_arena(std::uintptr_t begin, std::uintptr_t end) noexcept;

  /// The end of such a region, whose blocks have been read; `begin` if there is none.
  std::uintptr_t read_arena(std::uintptr_t begin, std::uintptr_t end) noexcept;

 private:
  static constexpr std::uintptr_t arena_size = std::uintptr_t{64} << 20;  // HEAP_MAX_SIZE

  std::uintptr_t walk(std::uintptr_t at, std::uintptr_t end) noexcept;

  own_table<heap_block>& blocks_;
};

}}}}  // namespace fj::v0_4::detail::os
