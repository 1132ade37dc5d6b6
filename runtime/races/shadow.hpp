// The detector's memory of the program's memory: who wrote and who read each four bytes last, and where in the code.
//
// The cells of eight bytes lie together, so that most accesses of eight bytes are one decision. A byte that is accessed alone has a
// cell of its own from then on: its four bytes are `split`. What was accessed under a lock has a list: `listed`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fj { inline namespace v0_2 { namespace detail { namespace races {

using address = std::uintptr_t;
using strand_id = std::uint32_t;  // 0: none
using site_id = std::uint32_t;

// In the place of a writer.
inline constexpr std::uint32_t split = 0x80000000u;   // the rest is the number of four cells
inline constexpr std::uint32_t listed = 0x40000000u;  // the rest is the number of a list
inline constexpr std::uint32_t special = split | listed;

/// Of eight bytes: each array has the first four bytes and the second.
struct alignas(32) cells {
  strand_id writer[2];
  strand_id reader[2];
  site_id wrote_at[2];
  site_id read_at[2];
};

/// Of one byte, or of what a list tells of.
struct cell {
  strand_id writer, reader;
  site_id wrote_at, read_at;
};

/// What the program addresses: its own image, the heap and the libraries differ in the lower 44 bits, with the usual places of all.
inline constexpr unsigned address_bits = 44;
inline constexpr std::size_t shadow_bytes = (std::size_t{1} << address_bits) * 4;

inline std::byte* shadow_base = nullptr;

[[gnu::always_inline]] inline std::size_t shadow_offset(address a) noexcept {
  return (a & ((address{1} << address_bits) - 8)) * 4;
}

[[gnu::always_inline]] inline cells& cells_of(address a) noexcept {
  return *reinterpret_cast<cells*>(shadow_base + shadow_offset(a));
}

/// Memory that costs nothing until it is touched, as an array that never moves. Ends the process if the system refuses.
void* reserve(std::size_t bytes, const char* what) noexcept;

/// Gives memory of a reservation back; it reads as zero afterwards. Whole pages inside.
void give_back(void* begin, std::size_t bytes) noexcept;

/// All that was accessed so far is before all that comes.
void forget_all() noexcept;

/// What lay in [begin, end) is no more. Whole cells of four bytes.
void forget(address begin, address end) noexcept;

}}}}  // namespace fj::v0_2::detail::races
