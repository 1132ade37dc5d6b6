// What programs call of the race detector: forkjoin/serial/observer.hpp says what these functions mean.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

enum class block_kind : std::uint32_t { fork_join, loop, fold, scope, group };

/// Defined in forkjoin-races alone: a program that is not linked with it does not link.
extern const char link_with_forkjoin_races;
[[gnu::used]] inline const char* const is_linked = &link_with_forkjoin_races;

/// The detector's part of a block: only the detector touches it.
struct block {
  alignas(8) std::byte state[72];
};

void begin(block& b, block_kind kind) noexcept;
void end(block& b) noexcept;
void join(block& b) noexcept;
/// Calls call(f), where f has `size` bytes.
void branch(block& b, void (*call)(void* f), void* f, std::size_t size);
void branch_beside(block& b, void (*call)(void* f), void* f, std::size_t size);
void iterations(block& b, std::size_t n, void (*call)(void* f, std::size_t iteration), void* f, std::size_t size);

using strand_number = std::uint32_t;
strand_number strand_here() noexcept;
bool runs_beside(strand_number strand) noexcept;
void ignore_begin() noexcept;
void ignore_end() noexcept;

}}}}  // namespace fj::v0_4::detail::races
