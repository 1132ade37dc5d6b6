// What programs call of the profile: forkjoin/serial/observer.hpp says what these functions mean.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

enum class block_kind : std::uint32_t { fork_join, loop, fold, scope };

/// Defined in forkjoin-profile alone: a program that is not linked with it does not link.
extern const char link_with_forkjoin_profile;
[[gnu::used]] inline const char* const is_linked = &link_with_forkjoin_profile;

/// The profile's part of a block: only the profile touches it.
struct block {
  alignas(16) std::byte state[176];
  bool is_open = false;  // from its begin to its join
};

struct closure {
  void (*call)(void* f);
  void* f;
};

void begin(block& b, block_kind kind) noexcept;
void end(block& b) noexcept;
void join(block& b) noexcept;
void branch(block& b, void (*call)(void* f), void* f);
/// As begin, two branches and join, in half the time.
void fork_two(closure first, closure second);
void branch_beside(block& b, void (*call)(void* f), void* f);
void iterations(block& b, std::size_t n, void (*call)(void* f, std::size_t iteration), void* f);
/// Calls call(f, begin, end) for parts of [0, n) that follow each other: of `grain` numbers, or as a loop without a
/// grain is cut.
void parts(block& b, std::size_t n, std::size_t grain, void (*call)(void* f, std::size_t begin, std::size_t end),
           void* f);

void run_begins() noexcept;
void run_ends() noexcept;

}}}}  // namespace fj::v0_4::detail::profile
