// Where the program forks: by the return address of the call that told of it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "forkjoin/abi/profile.hpp"
#include "runtime/profile/strands.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

/// After what a strand goes on.
enum class place : std::uint8_t { block, begin_of_block, fork, join };

struct site {
  // The fast path reads these.
  site* line = nullptr;                   // the first site in the same line of the program: paths know sites by it
  const void* outermost_block = nullptr;  // that is open, as in a recursion one is in the other
  std::array<strand_kind, 3> branch;      // the first, the second, all others
  const site* last_after = nullptr;       // the strand that went on after a block of this site
  strand_kind* kind_after = nullptr;
  bool is_outside = false;  // not a fork, but what no branch is around: one of the three below

  // Of blocks that are in no other one of this site.
  std::uint64_t outermost = 0;
  double work_in = 0;
  double span_in = 0;
  double burdened_in = 0;

  // Of a loop without a grain: how many numbers a part has.
  std::uint64_t part = 0;
  std::array<strand_kind*, 65> kinds_of_parts{};  // by std::bit_width of their numbers: longer ones take longer
  double time_of_parts = 0;
  double numbers_of_parts = 0;

  struct kind_after_place {
    const site* owner;
    place where;
    strand_kind* kind;
  };
  std::vector<kind_after_place> kinds_after;
  block_kind is = block_kind::fork_join;

  // Of these, loops of one part with several numbers: a strand runs them alone.
  std::uint64_t lone_loops = 0;
  double lone_numbers = 0;
  double lone_ticks = 0;

  site* after_join = nullptr;       // strands_after
  site* beside_children = nullptr;  // strands_beside

  // When all is over: add_up_strands.
  double own = 0;     // ticks of strands in the branches, without forks in them
  double before = 0;  // of these, of strands from the begin of a branch to its first fork
  double after = 0;   // and after a join
  std::uint64_t blocks = 0;
  std::uint64_t branches = 0;
  std::uintptr_t address = 0;
  std::vector<std::uintptr_t> calls;  // the return addresses when it came up first, the innermost first
  lasting_key key = 0;
};

// What no branch is around. As sites, but nothing forks there.

/// Up to the first fork.
extern site outside_of_forks;

/// After a join of forks at this site.
site& strands_after(site& joined);

/// After a fork at this site into a scope or a fold, and before their join.
site& strands_beside(site& forked);

site& find_site(std::uintptr_t address, block_kind is);

struct recent_site {
  std::uintptr_t address = 0;
  site* of = nullptr;
};
inline recent_site recent_sites[1024];

[[gnu::always_inline]] inline site& site_at(const void* return_address, block_kind is) {
  const auto address = reinterpret_cast<std::uintptr_t>(return_address);
  const recent_site& known = recent_sites[(address ^ address >> 10) % 1024];
  if (known.address == address) [[likely]]
    return *known.of;
  return find_site(address, is);
}

/// The kind of the strands that go on after something at a site, and are the owner's.
strand_kind& find_kind_after(site& of, site& owner, place where);

strand_kind& make_kind_of_part(site& of, std::size_t width);

/// The kind of a part of so many numbers, of a loop without a grain.
inline strand_kind& kind_of_part(site& of, std::size_t numbers) {
  const auto width = static_cast<unsigned>(std::bit_width(numbers));
  strand_kind* const known = of.kinds_of_parts[width];
  return known ? *known : make_kind_of_part(of, width);
}

[[gnu::always_inline]] inline strand_kind& kind_after_block(site& of, site& owner) {
  if (of.last_after == &owner) [[likely]]
    return *of.kind_after;
  of.last_after = &owner;
  of.kind_after = &find_kind_after(of, owner, place::block);
  return *of.kind_after;
}

/// The site whose blocks begin at the end of a strand; nullptr if the strand ended at something else.
site* site_of(const void* end) noexcept;

/// Names the end of a strand in each run.
lasting_key key_of_end(const void* end) noexcept;

/// As if no site had come up yet.
void forget_sites() noexcept;

/// In the order in which they came up first.
const std::vector<site*>& all_sites() noexcept;

}}}}  // namespace fj::v0_4::detail::profile
