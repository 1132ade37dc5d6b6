// The detector's memory of the program's memory: who wrote and who read each four bytes last, and where in the code.
//
// The cells of eight bytes lie together, so that most accesses of eight bytes are one decision. A byte that is accessed
// alone has a cell of its own from then on: its four bytes are `split`. What was accessed under a lock has a list:
// `listed`. So has what was accessed atomically and otherwise; what was accessed atomically alone, since the outermost
// block began, is `atomic`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

using address = std::uintptr_t;
using strand_id = std::uint32_t;  // 0: none
using site_id = std::uint32_t;

// In the place of a writer.
inline constexpr std::uint32_t split = 0x80000000u;   // the rest is the number of four cells
inline constexpr std::uint32_t listed = 0x40000000u;  // the rest is the number of a list
inline constexpr std::uint32_t special = split | listed;
inline constexpr std::uint32_t atomic = split | listed;  // only atomic accesses count; the rest is the writer

constexpr bool is_split(std::uint32_t writer) noexcept { return (writer & special) == split; }
constexpr bool is_listed(std::uint32_t writer) noexcept { return (writer & special) == listed; }
constexpr bool is_only_atomic(std::uint32_t writer) noexcept { return (writer & special) == atomic; }

/// Of eight bytes: each array has the first four bytes and the second.
struct alignas(16) cells {
  strand_id writer[2];
  strand_id reader[2];
};
/// Where in the code that was. They lie apart: most accesses only compare strands, and take half as many lines of the
/// cache then.
struct alignas(16) cell_sites {
  site_id wrote_at[2];
  site_id read_at[2];
};

/// Of one byte, or of what a list tells of.
struct cell {
  strand_id writer, reader;
  site_id wrote_at, read_at;
};

/// What the program addresses: its own image, the heap, the libraries and the stack differ in the lower 43 bits, with
/// the usual places of all. Cells for more would find no room where the stack is unlimited.
inline constexpr unsigned address_bits = 43;
inline constexpr std::size_t bytes_of_cells = (std::size_t{1} << address_bits) * 2;
inline constexpr std::size_t shadow_bytes = 2 * bytes_of_cells;  // with their sites

[[gnu::always_inline]] inline std::size_t shadow_offset(address a) noexcept {
  return (a & ((address{1} << address_bits) - 8)) * 2;
}

[[gnu::always_inline]] inline cell_sites& sites_of(cells& c) noexcept {
  return *reinterpret_cast<cell_sites*>(reinterpret_cast<std::byte*>(&c) + bytes_of_cells);
}

/// Memory that costs nothing until it is touched, as an array that never moves. Ends the process if the system refuses.
void* reserve(std::size_t bytes, const char* what) noexcept;

/// Gives memory of a reservation back; it reads as zero afterwards. Whole pages inside.
void give_back(void* begin, std::size_t bytes) noexcept;

/// All that was accessed so far is before all that comes.
void forget_all() noexcept;

/// What lay in [begin, end) is no more. Whole cells of four bytes.
void forget(address begin, address end) noexcept;

}}}}  // namespace fj::v0_4::detail::races
