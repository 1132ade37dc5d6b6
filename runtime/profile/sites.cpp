#include "runtime/profile/sites.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/os/callers.hpp"
#include "runtime/os/ticks.hpp"
#include "runtime/profile/earlier_runs.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace profile {

namespace {

constexpr std::size_t most_calls = 200;

std::vector<site*>& sites() {
  static std::vector<site*>& all = *new std::vector<site*>;
  return all;
}

std::unordered_map<std::uintptr_t, site*>& known_sites() {
  static std::unordered_map<std::uintptr_t, site*>& all = *new std::unordered_map<std::uintptr_t, site*>;
  return all;
}

}  // namespace

site outside_of_forks;

const std::vector<site*>& all_sites() noexcept { return sites(); }

lasting_key key_of_end(const void* end) noexcept {
  const site* const begun = site_of(end);
  const site* const forked = site_of(static_cast<const char*>(end) - 1);
  return begun ? begun->key : forked ? key_of(forked->key, 1) : key_of(end);
}

void forget_sites() noexcept {
  sites().clear();
  known_sites().clear();
  for (recent_site& one : recent_sites) one = {};
  outside_of_forks = site();
}

site* site_of(const void* end) noexcept {
  const auto found = std::ranges::find(sites(), end);
  return found == sites().end() ? nullptr : *found;
}

site& find_site(std::uintptr_t address, block_kind is) {
  const std::uint64_t begin = os::ticks_in_order();
  site*& found = known_sites()[address];
  if (!found) {
    found = new site;
    found->is = is;
    found->address = address;
    found->key = key_of(reinterpret_cast<const void*>(address));
    found->calls = os::callers(most_calls);
    // What leads from here to the fork is the profile's own.
    const auto fork = std::ranges::find(found->calls, address);
    if (fork != found->calls.end()) found->calls.erase(found->calls.begin(), fork);
    sites().push_back(found);
    found->line = found;
    if (const known_site* const known = find_known_site(found->key)) {
      found->part = known->part;
      const auto first = std::ranges::find(sites(), known->first_of_line, &site::key);
      if (first != sites().end()) found->line = *first;
    }
    for (std::size_t i = 0; i != found->branch.size(); ++i) add_kind(found->branch[i], *found, key_of(found->key, i));
  }
  recent_sites[(address ^ address >> 10) % 1024] = {address, found};
  leave_out(os::ticks_in_order() - begin);
  return *found;
}

site& strands_after(site& joined) {
  if (!joined.after_join) {
    site* const first = joined.line == &joined ? nullptr : &strands_after(*joined.line);
    joined.after_join = new site;
    joined.after_join->key = key_of(joined.key, 7);
    joined.after_join->line = first ? first : joined.after_join;
    clock_is_stale();
  }
  return *joined.after_join;
}

strand_kind& find_kind_after(site& of, site& owner, place where) {
  for (const site::kind_after_place& one : of.kinds_after)
    if (one.owner == &owner && one.where == where) return *one.kind;
  auto* const fresh = new strand_kind;
  add_kind(*fresh, owner, key_of(key_of(of.key, owner.key), 8 + static_cast<lasting_key>(where)));
  of.kinds_after.push_back({&owner, where, fresh});
  clock_is_stale();
  return *fresh;
}

}}}}  // namespace fj::v0_2::detail::profile
