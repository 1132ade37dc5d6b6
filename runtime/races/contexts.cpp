#include "runtime/races/contexts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

namespace {

constexpr std::size_t most = std::size_t{1} << 28;

std::uint32_t contexts_used = 1;  // 0 is where a branch begins
site* sites = nullptr;
site_id sites_used = 1;

/// Numbers by a pair of numbers, which the value itself does not have to be asked for.
class numbers {
 public:
  /// The place of the number for this pair: 0 if there is none yet; then the caller stores it there.
  template <class IsIt, class HashOf>
  std::uint32_t& place(std::size_t hash, IsIt is_it, HashOf hash_of) {
    if (2 * (used_ + 1) > slots_.size()) grow(hash_of);
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != 0 && !is_it(slots_[at])) at = (at + 1) & (slots_.size() - 1);
    used_ += slots_[at] == 0;
    return slots_[at];
  }

 private:
  template <class HashOf>
  void grow(HashOf hash_of) {
    const std::vector<std::uint32_t> old =
        std::exchange(slots_, std::vector<std::uint32_t>(std::max<std::size_t>(1024, 2 * slots_.size())));
    for (const std::uint32_t number : old) {
      if (number == 0) continue;
      std::size_t at = hash_of(number) & (slots_.size() - 1);
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = number;
    }
  }

  std::vector<std::uint32_t> slots_;
  std::size_t used_ = 0;
};

std::size_t hash_of(address pc, std::uint32_t context) noexcept {
  const std::size_t mixed = (pc ^ (std::size_t{context} << 40 | context)) * 0x9e3779b97f4a7c15u;
  return mixed ^ mixed >> 29;
}

/// What a call leads to: a context of its own, or the one it is in already.
struct call_edge {
  address pc;
  std::uint32_t from;
  std::uint32_t to;
};

call_edge* edges = nullptr;
std::uint32_t edges_used = 1;
numbers* edge_numbers = nullptr;  // never destroyed: the destructors of the program are watched, too
numbers* site_numbers = nullptr;

}  // namespace

std::uint32_t find_context(std::uint32_t parent, address pc) noexcept {
  const aside work;
  std::uint32_t& place = edge_numbers->place(
      hash_of(pc, parent), [&](std::uint32_t one) { return edges[one].pc == pc && edges[one].from == parent; },
      [](std::uint32_t one) { return hash_of(edges[one].pc, edges[one].from); });
  if (place == 0) {
    std::uint32_t to = parent;
    while (to != 0 && contexts[to].pc != pc) to = contexts[to].parent;
    if (to == 0) {
      to = contexts_used++;
      contexts[to] = {pc, parent, 0, 0};
    }
    place = edges_used++;
    edges[place] = {pc, parent, to};
  }
  contexts[parent].latest = edges[place].to;
  contexts[parent].latest_pc = pc;
  return edges[place].to;
}

site_id find_site(address pc, std::uint32_t in) noexcept {
  const aside work;
  std::uint32_t& place = site_numbers->place(
      hash_of(pc, in), [&](site_id one) { return sites[one].pc == pc && sites[one].context == in; },
      [](site_id one) { return hash_of(sites[one].pc, sites[one].context); });
  if (place == 0) {
    place = sites_used++;
    sites[place] = {pc, in};
  }
  recent_site(pc) = {pc, in, place};
  return place;
}

site site_of(site_id id) noexcept { return sites[id]; }

void add_calls(std::uint32_t of, std::vector<address>& to) {
  for (; of != 0; of = contexts[of].parent) to.push_back(contexts[of].pc);
}

void start_contexts() noexcept {
  contexts = static_cast<context*>(reserve(most * sizeof(context), "contexts"));
  edges = static_cast<call_edge*>(reserve(most * sizeof(call_edge), "calls"));
  edge_numbers = new numbers;
  site_numbers = new numbers;
  sites = static_cast<site*>(reserve(most * sizeof(site), "sites"));
  calls = static_cast<open_call*>(reserve(most_calls * sizeof(open_call), "calls"));
}

}}}}  // namespace fj::v0_4::detail::races
