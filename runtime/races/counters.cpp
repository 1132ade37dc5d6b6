#include "runtime/races/counters.hpp"

#include <unordered_map>

namespace fj { inline namespace v0_2 { namespace detail { namespace races {

namespace {

/// Which strands took each counter down since it was zero: the first, and the latest.
struct owners {
  strand_id first, latest;
};

// Never destroyed: the destructors of the program are watched, too.
std::unordered_map<address, owners>& counters() {
  static auto* all = new std::unordered_map<address, owners>;
  return *all;
}

bool runs_beside_me(strand_id s) noexcept { return s != now.strand && beside(s); }

}  // namespace

void count_down(address counter, bool to_zero) {
  const aside work;
  if (!to_zero) {
    const strand_id me = this_strand();
    const auto [at, is_new] = counters().try_emplace(counter, owners{me, me});
    if (!is_new) at->second.latest = me;
    return;
  }
  const auto at = counters().find(counter);
  if (at == counters().end()) return;
  const owners before = at->second;
  counters().erase(at);
  if (now.silent_below != 0 || !(runs_beside_me(before.first) || runs_beside_me(before.latest))) return;
  now.silent_below = now.branch.depth != 0 ? now.branch.depth : 1;
  now.silent_in = now.frame;
  now.silent_counter = counter;
  ++now.ignoring;
}

void end_silence() noexcept {
  now.silent_below = 0;
  --now.ignoring;
}

}}}}  // namespace fj::v0_2::detail::races
