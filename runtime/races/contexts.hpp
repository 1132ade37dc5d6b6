// Where in the program a branch is: the calls since it began, as numbers. A report shows them as the stack of an
// access.
//
// A context is a call within a context, so contexts are a tree (Ammons, Ball and Larus, "Exploiting hardware
// performance counters with flow and context sensitive profiling", 1997). A call from a place that is in the context
// already leads back there: so recursion makes no new contexts, and there are about as many as the program has calls.
// Each branch begins at the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/races/counters.hpp"
#include "runtime/races/strands.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

struct context {
  address pc;  // of the call
  std::uint32_t parent;
  std::uint32_t latest;  // the child that was entered last, by the call at latest_pc
  address latest_pc;
};

/// An instruction in a context.
struct site {
  address pc;
  std::uint32_t context;
};

inline context* contexts = nullptr;

struct open_call {
  std::uint32_t context;  // of the caller
  address frame;
  address pc;  // of the call
};
inline open_call* calls = nullptr;
inline constexpr std::size_t most_calls = std::size_t{1} << 26;

std::uint32_t find_context(std::uint32_t parent, address pc) noexcept;

[[gnu::always_inline]] inline void enter_function(address pc, address frame) noexcept {
  calls[now.branch.depth % most_calls] = {now.branch.context, frame, pc};
  ++now.branch.depth;
  const context& here = contexts[now.branch.context];
  now.branch.context = here.latest_pc == pc ? here.latest : find_context(now.branch.context, pc);
}

[[gnu::always_inline]] inline void leave_function() noexcept {
  if (now.branch.depth == 0) return;  // of a function that was entered before the detector began
  now.branch.context = calls[--now.branch.depth % most_calls].context;
  if (now.branch.depth < now.last_owner_below) [[unlikely]]
    end_of_functions();
}

struct known_site {
  address pc;
  std::uint32_t context;
  site_id id;
};
inline constexpr std::size_t site_cache = std::size_t{1} << 12;
inline known_site recent_sites[site_cache];

site_id find_site(address pc, std::uint32_t in) noexcept;

[[gnu::always_inline]] inline known_site& recent_site(address pc) noexcept {
  return recent_sites[(pc ^ pc >> 12 ^ now.branch.context * 97) % site_cache];
}

[[gnu::always_inline]] inline site_id site_here(address pc) noexcept {
  const known_site& recent = recent_site(pc);
  if (recent.pc == pc && recent.context == now.branch.context) [[likely]]
    return recent.id;
  return find_site(pc, now.branch.context);
}

site site_of(site_id id) noexcept;

/// The calls that lead to a context, the innermost first.
void add_calls(std::uint32_t of, std::vector<address>& to);

void start_contexts() noexcept;

}}}}  // namespace fj::v0_4::detail::races
