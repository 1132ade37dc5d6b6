#include "runtime/races/counters.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

namespace {

/// Numbers of strands: sets of intervals from the first to the last, sorted, with gaps between them.
class strand_set {
 public:
  bool has(strand_id s) const noexcept {
    const auto at = std::ranges::lower_bound(all_, s, {}, &interval::last);
    return at != all_.end() && at->first <= s;
  }

  void add(strand_id first, strand_id last) {
    if (first > last) return;
    auto begin = std::ranges::lower_bound(all_, first, {}, [](const interval& one) { return one.last + 1; });
    auto end = begin;
    for (; end != all_.end() && end->first <= last + 1; ++end) {
      first = std::min(first, end->first);
      last = std::max(last, end->last);
    }
    if (begin == end) {
      all_.insert(begin, {first, last});
    } else {
      *begin = {first, last};
      all_.erase(begin + 1, end);
    }
  }

 private:
  struct interval {
    strand_id first, last;
  };
  std::vector<interval> all_;
};

/// The strands that took a counter down since it was zero: the first, and the latest; and all strands that were before
/// one of them.
struct counter_state {
  strand_id first, latest;
  strand_set before;
};

struct last_owner {
  std::uint32_t below;  // the number of calls that must be open
  const branch_frame* in;
  address counter;
  strand_set before;
};

// Never destroyed: the destructors of the program are watched, too.
std::unordered_map<address, counter_state>& counters() {
  static auto* all = new std::unordered_map<address, counter_state>;
  return *all;
}

/// One within the other, as the last owner of an object is of those that the object has.
std::vector<last_owner>& last_owners() {
  static auto* all = new std::vector<last_owner>;
  return *all;
}

bool runs_beside_me(strand_id s) noexcept { return s != now.strand && beside(s); }

/// Adds what is before the running strand.
void add_all_before(strand_set& to) {
  to.add(now.branch.own_base, next_strand - 1);
  strand_id begins = now.branch.own_base;
  for (const branch_frame* f = now.frame; f; f = f->parent) {
    const strand_id parents = f->parents_strand;
    if (parents != 0 && to.has(parents)) return;  // then its ancestors are there, too
    to.add(f->parents_state.own_base, (f->of->owner == f->parent ? f->of->first : begins) - 1);
    if (parents != 0) to.add(parents, parents);
    begins = f->parents_state.own_base;
  }
}

void changed_last_owners() noexcept {
  const std::vector<last_owner>& all = last_owners();
  now.last_owner_below = all.empty() ? 0 : all.back().below;
}

}  // namespace

void count_down(address counter, bool to_zero) {
  const aside work;
  if (!to_zero) {
    const strand_id me = this_strand();
    counter_state& state = counters().try_emplace(counter, counter_state{me, me, {}}).first->second;
    state.latest = me;
    add_all_before(state.before);
    set_strand(0);
    return;
  }
  const auto at = counters().find(counter);
  if (at == counters().end()) return;
  counter_state state = std::move(at->second);
  counters().erase(at);
  if (!runs_beside_me(state.first) && !runs_beside_me(state.latest)) return;
  const std::uint32_t calls = now.branch.depth > 2 ? now.branch.depth - 1 : 1;  // release() may return what came of it
  last_owners().push_back({calls, now.frame, counter, std::move(state.before)});
  changed_last_owners();
}

bool is_before_last_owner(strand_id s) noexcept {
  return std::ranges::any_of(last_owners(), [&](const last_owner& one) { return one.before.has(s); });
}

void end_of_functions() noexcept {
  const aside work;
  std::vector<last_owner>& all = last_owners();
  while (!all.empty() && now.branch.depth < all.back().below) all.pop_back();
  changed_last_owners();
}

void end_of_branch_slow(const branch_frame* frame) noexcept {
  const aside work;
  std::vector<last_owner>& all = last_owners();
  while (!all.empty() && all.back().in == frame) all.pop_back();
  changed_last_owners();
}

void end_of_memory(address begin, std::size_t n) noexcept {
  const aside work;
  std::erase_if(last_owners(), [&](const last_owner& one) { return one.counter - begin < n; });
  changed_last_owners();
}

void forget_counters() noexcept {
  const aside work;
  counters().clear();
  last_owners().clear();
  changed_last_owners();
}

}}}}  // namespace fj::v0_4::detail::races
