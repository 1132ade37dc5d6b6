#include "runtime/races/variables.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "runtime/os/memory/interposed.hpp"
#include "runtime/os/symbols.hpp"
#include "runtime/races/contexts.hpp"
#include "runtime/races/counters.hpp"
#include "runtime/races/strands.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

namespace {

// As the heap aligns blocks.
constexpr std::size_t grain = 16;
constexpr std::size_t grains = (std::size_t{1} << address_bits) / grain;
// Of so many together one byte tells whether a block has begun there; a block's beginning is looked for no further
// below an address of it.
constexpr std::size_t together = 4096, furthest = std::size_t{1} << 18;

site_id* allocated_at = nullptr;
bool* some_begin = nullptr;
std::uint64_t blocks_begun = 0;

site_id& site_of_block(address at) noexcept { return allocated_at[at / grain % grains]; }

struct known_memory {
  address end;
  variable_key is;
};

struct all_known {
  std::map<address, known_memory> by_begin;
  struct {
    address at;
    std::uint64_t blocks;
  } nameless[1024] = {};  // a few addresses that were looked for in vain, when so many blocks had begun
};

// Never destroyed: the destructors of the program are watched, too.
all_known* known_variables = nullptr;

/// Where the block of the heap begins that has this address; 0: there is none.
address block_of(address at) noexcept {
  std::size_t one = at / grain % grains, looked = 0;
  while (allocated_at[one] == 0) {
    if (one % together != 0) {
      --one;
      continue;
    }
    do {
      if (one == 0 || ++looked == furthest) return 0;
      one -= together;
    } while (!some_begin[one / together]);
    one += together - 1;
  }
  const address begin = at - (at / grain % grains - one) * grain - at % grain;
  return at - begin < os::interposed::size_of_block(reinterpret_cast<const void*>(begin)) ? begin : 0;
}

std::optional<std::pair<address, known_memory>> look_up(address at) {
  if (auto found = os::variable_at(at))
    return {{found->begin, {found->end, {variable_key::memory::named, found->begin}}}};
  if (const address begin = block_of(at); begin != 0)
    return {{begin,
             {begin + os::interposed::size_of_block(reinterpret_cast<const void*>(begin)),
              {variable_key::memory::heap, site_of_block(begin)}}}};
  return {};
}

}  // namespace

void block_begins(address at, address pc) noexcept {
  if (!allocated_at || now.working != 0) return;
  ++blocks_begun;
  site_of_block(at) = site_here(pc);
  some_begin[at / grain % grains / together] = true;
}

void block_ends(address at) noexcept {
  if (!allocated_at || site_of_block(at) == 0) return;
  site_of_block(at) = 0;
  if (!known_variables) return;
  const aside work;
  known_variables->by_begin.erase(at);
}

address frame_that_holds(address at) noexcept {
  if (at < now.stack_bottom) return 0;
  const std::size_t depth = std::min<std::size_t>(now.branch.depth, most_calls);
  std::size_t i = 0;
  while (i != depth && calls[i].frame > at) ++i;
  if (i++ == depth) return 0;
  // It has forked, or called another one.
  for (const branch_frame* f = now.frame; f; f = f->parent)
    if (f->parents_state.depth == i) return f->of->pc;
  return i < depth ? calls[i].pc : 0;
}

variable_key variable_of(address at) {
  using memory = variable_key::memory;
  if (at >= now.stack_bottom) return {memory::stack, frame_that_holds(at)};
  if (!known_variables) known_variables = new all_known;
  all_known& all = *known_variables;
  const auto next = all.by_begin.upper_bound(at);
  if (next != all.by_begin.begin() && at < std::prev(next)->second.end) return std::prev(next)->second.is;
  auto& nameless = all.nameless[at / 4 % std::size(all.nameless)];
  if (nameless.at == at && nameless.blocks == blocks_begun) return {};
  if (const auto found = look_up(at)) {
    all.by_begin.insert(*found);
    return found->second.is;
  }
  nameless = {at, blocks_begun};
  return {};
}

std::string name_of_variable(address at) {
  const auto found = os::variable_at(at);
  if (!found) return {};
  return at == found->begin ? found->name : found->name + "+" + std::to_string(at - found->begin);
}

void start_variables() noexcept {
  some_begin = static_cast<bool*>(reserve(grains / together, "blocks"));
  allocated_at = static_cast<site_id*>(reserve(grains * sizeof(site_id), "blocks"));
}

}}}}  // namespace fj::v0_4::detail::races
