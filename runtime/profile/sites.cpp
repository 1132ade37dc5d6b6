#include "runtime/profile/sites.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "forkjoin/abi/os/ticks.hpp"
#include "runtime/os/callers.hpp"
#include "runtime/profile/earlier_runs.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

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
    for (std::size_t i = 0; i != found->branch.size(); ++i)
      add_kind(found->branch[i], *found, key_of(found->key, i), begin_at::branch);
  }
  recent_sites[(address ^ address >> 10) % 1024] = {address, found};
  leave_out(os::ticks_in_order() - begin);
  return *found;
}

namespace {

site& strands_at(site& forked, site* site::* where, lasting_key part) {
  if (!(forked.*where)) {
    site* const first = forked.line == &forked ? nullptr : &strands_at(*forked.line, where, part);
    site* const made = forked.*where = new site;
    made->key = key_of(forked.key, part);
    made->line = first ? first : made;
    made->is_outside = true;
    clock_is_stale();
  }
  return *(forked.*where);
}

}  // namespace

site& strands_after(site& joined) { return strands_at(joined, &site::after_join, 7); }
site& strands_beside(site& forked) { return strands_at(forked, &site::beside_children, 6); }

strand_kind& make_kind_of_part(site& of, std::size_t width) {
  auto* const fresh = of.kinds_of_parts[width] = new strand_kind;
  add_kind(*fresh, of, key_of(of.key, 64 + width), begin_at::branch);
  clock_is_stale();
  return *fresh;
}

strand_kind& find_kind_after(site& of, site& owner, place where) {
  for (const site::kind_after_place& one : of.kinds_after)
    if (one.owner == &owner && one.where == where) return *one.kind;
  auto* const fresh = new strand_kind;
  add_kind(*fresh, owner, key_of(key_of(of.key, owner.key), 8 + static_cast<lasting_key>(where)), begin_at::place);
  of.kinds_after.push_back({&owner, where, fresh});
  clock_is_stale();
  return *fresh;
}

}}}}  // namespace fj::v0_4::detail::profile
