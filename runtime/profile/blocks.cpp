// What the twin calls: blocks and their branches, in the order of the serial program.
//
// Each open block has the path of the branch that runs in it: what it has done since it began. At the end of a branch its path competes
// with those of the others of its block, and at the join the longest is appended to the path of the branch that the block is in.
//
// A theft is put on each edge by which a thief would go on, as Cilkview has it (He, Leiserson and Leiserson, "The Cilkview scalability
// analyzer", 2010): the first branch of a block runs where the fork is, the second one after a theft; the third one is stolen from the thief
// that runs the second. The parts of a loop are stolen in halves, so the part i waits for as many thefts as i has bits that are set.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "runtime/os/compiler.hpp"
#include "runtime/os/ticks.hpp"
#include "runtime/profile/earlier_runs.hpp"
#include "runtime/profile/observer.hpp"
#include "runtime/profile/paths.hpp"
#include "runtime/profile/sites.hpp"
#include "runtime/profile/start.hpp"
#include "runtime/profile/strands.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace profile {

namespace {

/// Nanoseconds of a part of a loop without a grain: as in forkjoin/loops/chunks.hpp, where a chunk is not to be shorter.
constexpr double part_ns = 8'000;

/// What is in a block.
struct open_block {
  // Of the branch that runs in it; in a scope and in a fold, between the branches, of the strand that began it.
  path inner;            // from its begin: the blocks that have ended in it
  double own;          // ticks: the strands between them
  double waits;        // ticks of thefts, before the branch
  path longest;          // of the branches that have ended
  site* of;      // of a scope: where it was forked into last
  site* owner;   // of the strands
  open_block* around;
  const path* child_from;  // of a scope while a child of it runs: from the scope's begin to the fork
  std::uint32_t branches;        // that have ended
  block_kind is;
};
static_assert(std::is_trivially_destructible_v<open_block>);
static_assert(sizeof(open_block) <= sizeof(block::state) && alignof(open_block) <= alignof(block));

open_block outermost;
open_block* running = &outermost;

// What a strand ends at, beside blocks of a site and forks into a scope at a site.
const char join_of_scope = 0, begin_of_scope = 0, end_of_run = 0;
const void* fork_at(const site& of) noexcept { return reinterpret_cast<const char*>(&of) + 1; }

open_block& of(block& b) noexcept { return *reinterpret_cast<open_block*>(b.state); }

/// The path of what runs in the block, from its begin to here, where its strand has ended. It has none afterwards.
path taken(open_block& b) {
  path whole = strand_of(b.owner->line, b.own);
  append(whole, b.inner);
  b.own = 0;
  b.inner = path();
  clock_is_stale();
  return whole;
}

[[gnu::noinline]] void note_outermost(site& at, const path& whole) noexcept {
  at.outermost_block = nullptr;
  ++at.outermost;
  at.work_in += whole.work();
  at.span_in += whole.span();
  at.burdened_in += whole.burdened();
}

/// The first branch of a fork_join sets what is not set here.
[[gnu::always_inline]] inline void open(open_block& b, block_kind is, site* at, site* owner) {
  b.inner = path();
  b.own = 0;
  b.waits = 0;
  if (is != block_kind::fork_join) b.longest = path();
  b.of = at;
  b.owner = owner;
  b.around = running;
  b.child_from = nullptr;
  b.branches = 0;
  b.is = is;
  running = &b;
}

[[gnu::noinline]] void append_longest(open_block& b) {
  append(b.around->inner, b.longest);
  clock_is_stale();
}

/// The strand that began the block goes on.
[[gnu::always_inline]] inline void close(open_block& b) {
  open_block& around = *b.around;
  running = &around;
  if (around.inner.whose == b.longest.whose || around.inner.whose.none()) [[likely]] {
    around.inner.lengths += b.longest.lengths;
    around.inner.others += b.longest.others;
    around.inner.whose = b.longest.whose;
  } else {
    append_longest(b);
  }
}

/// As close, of a block of one site.
[[gnu::always_inline]] inline void close_site(open_block& b) {
  site& at = *b.of;
  if (at.outermost_block == &b) [[unlikely]]
    note_outermost(at, b.longest);
  close(b);
  begin_strand(kind_after_block(at, *running->owner));
}

[[gnu::noinline]] void compete_slow(open_block& b) {
  path whole = taken(b);
  path thefts = thefts_at(b.of->line, b.waits);
  append(whole, thefts);
  take_longer(b.longest, whole);
}

/// A branch of the block has ended: the first one, or the last one, or any one.
enum class which_branch { first, last, any };

template <which_branch Which>
[[gnu::always_inline]] inline void compete(open_block& b) {
  constexpr bool is_first = Which == which_branch::first;
  const owners mine(b.of->line);
  if ((b.inner.whose == mine || b.inner.whose.none()) && (is_first || b.longest.whose == mine || b.longest.whose.none())) [[likely]] {
    const pair lengths = b.inner.lengths + pair{b.own, b.own + b.waits};
    const pair others = b.inner.others + pair{b.own / 2 + b.waits, b.own};
    if constexpr (is_first) {
      b.longest.lengths = lengths;
      b.longest.others = others;
    } else {
      b.longest.lengths = larger(b.longest.lengths, lengths);
      b.longest.others = pair{larger(b.longest.others, others)[0], (b.longest.others + others)[1]};
    }
    b.longest.whose = mine;
    if constexpr (Which != which_branch::last) {
      b.inner = path();
      b.own = 0;
    }
  } else {
    if (is_first) b.longest = path();
    compete_slow(b);
  }
}

/// From the begin of a scope to the end of `here`, the path of what runs: through all blocks between.
path way_from(const open_block& scope, path here) {
  const auto put_before = [&here](path before) {
    append(before, here);
    here = before;
  };
  for (const open_block* b = running; b != &scope && b->around; b = b->around) {
    if (b->child_from) {
      put_before(copy(*b->child_from));
    } else if (b->is != block_kind::scope) {
      put_before(thefts_at(b->of->line, b->waits));
    }
    put_before(copy(b->around->inner));
    put_before(strand_of(b->around->owner->line, b->around->own));
  }
  if (scope.child_from) put_before(copy(*scope.child_from));
  return here;
}

/// A part of a loop without a grain has taken so long.
void learn_part(site& of, std::size_t numbers, double ticks) noexcept {
  if (has_earlier_runs()) return;
  of.numbers_of_parts += static_cast<double>(numbers);
  of.time_of_parts += ticks;
  const double fits = part_ns * ticks_per_ns * of.numbers_of_parts / std::max(of.time_of_parts, 1.0);
  const double most = 8 * static_cast<double>(std::max<std::uint64_t>(of.part, 1));
  of.part = static_cast<std::uint64_t>(std::clamp(fits, 1.0, most));
}

/// The scope may be around the branch that runs, and so may be blocks in it.
void fork_into_scope(open_block& scope, site& at, void (*call)(void* f), void* f) {
  running->own += end_strand(fork_at(at));
  const path here = taken(*running);
  path from = way_from(scope, copy(here));
  if (!at.outermost_block) at.outermost_block = &from;
  scope.of = &at;
  struct leaver {
    open_block& scope;
    site& at;
    path& from;
    const path& here;
    open_block* const runs;
    const path inner;
    const double own;
    site* const owner;
    const path* const child_from;
    ~leaver() {
      scope.own += end_strand_of_branch();
      path child = taken(scope);
      if (at.outermost_block == &from) note_outermost(at, child);
      const double work = child.work();
      append(from, child);
      from.others[1] = work;
      take_longer(scope.longest, from);
      ++scope.branches;
      scope.inner = inner;
      scope.own = own;
      scope.owner = owner;
      scope.child_from = child_from;
      running = runs;
      running->inner = here;
      path theft = thefts_at(at.line, theft_ticks);
      append(running->inner, theft);
      clock_is_stale();
      begin_strand(find_kind_after(at, *running->owner, place::fork));
    }
  } at_end{scope, at, from, here, running, scope.inner, scope.own, scope.owner, scope.child_from};
  scope.inner = path();
  scope.own = 0;
  scope.owner = &at;
  scope.child_from = &from;
  running = &scope;
  begin_strand(at.branch[0]);
  call(f);
}

// --- what the profile itself takes ---

/// At this site: two branches, and a join.
[[gnu::always_inline]] inline void fork_two_at(site& at, const closure& first, const closure& second) {
  running->own += end_strand(&at);
  open_block b;
  open(b, block_kind::fork_join, &at, &at);
  if (!at.outermost_block) at.outermost_block = &b;
  const struct closer {
    open_block& b;
    ~closer() { close_site(b); }
  } at_join{b};
  {
    const struct leaver {
      open_block& b;
      ~leaver() {
        b.own += end_strand_of_branch();
        compete<which_branch::first>(b);
        b.waits = theft_ticks;
      }
    } at_end{b};
    begin_strand(at.branch[0]);
    first.call(first.f);
  }
  const struct leaver {
    open_block& b;
    ~leaver() {
      b.own += end_strand_of_branch();
      compete<which_branch::last>(b);
    }
  } at_end{b};
  begin_strand(at.branch[1]);
  second.call(second.f);
}

/// A tree of forks without any work, or a flat loop of them if depth is 1.
[[gnu::noinline]] void empty_forks(site& at, int depth, int times) {
  struct empty {
    site& at;
    int depth;
    static void call(void* f) { empty_forks(static_cast<empty*>(f)->at, static_cast<empty*>(f)->depth, 1); }
  };
  if (depth == 0) return;
  for (int i = 0; i != times; ++i) {
    empty first{at, depth - 1}, second{at, depth - 1};
    fork_two_at(at, {os::opaque(&empty::call), &first}, {os::opaque(&empty::call), &second});
  }
}

/// Of most: the counter may go in steps of ten nanoseconds, so that a median says little.
double mean(const strand_kind& of) {
  std::vector<float> all;
  for (const strand_type* const type : of.types) all.insert(all.end(), type->newest.begin(), type->newest.end());
  std::ranges::sort(all);
  all.resize(all.size() - all.size() / 10);
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

}  // namespace

void measure_costs() {
  constexpr int depth = 7, forks = (1 << depth) - 1;
  site at;
  at.line = &at;
  outermost.owner = &at;
  strand_kind& after = find_kind_after(at, at, place::block);
  const auto time = [&](bool first, bool others) {
    for (strand_kind* const kind : {&at.branch[0], &at.branch[1], &after}) {
      kind->timed = way::learning;
      kind->look_at = ~0u;
      kind->left = (kind == &at.branch[0] ? first : others) ? 1 : ~0u;
    }
    strand = {};
    begin_strand(at.branch[1]);
  };
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i != 20; ++i) {
    time(false, false);
    const std::uint64_t begin = os::ticks_in_order();
    empty_forks(at, depth, 1);
    least = std::min(least, static_cast<double>(os::ticks_in_order() - begin) / (3 * forks));
  }
  cost.event = least;
  time(true, true);
  empty_forks(at, depth, 8);
  cost.shared = mean(at.branch[1]);
  time(true, false);
  empty_forks(at, 1, 1000);
  cost.fresh = mean(at.branch[0]);
  outermost = open_block();
  strand = {};
}

void fork_two(closure first, closure second) {
  fork_two_at(site_at(__builtin_return_address(0), block_kind::fork_join), first, second);
}

void begin(block& begun, block_kind is) noexcept {
  open_block& b = of(begun);
  begun.is_open = true;
  if (is == block_kind::scope) {
    running->own += end_strand(&begin_of_scope);
    open(b, is, nullptr, running->owner);
    return begin_strand(find_kind_after(outside_of_forks, *running->owner, place::begin_of_block));
  }
  site& at = site_at(__builtin_return_address(0), is);
  running->own += end_strand(&at);
  site* const owner = is == block_kind::fold ? running->owner : &at;
  open(b, is, &at, owner);
  b.longest = path();
  if (!at.outermost_block) at.outermost_block = running;
  if (is == block_kind::fold) begin_strand(find_kind_after(at, *owner, place::begin_of_block));
}

void branch(block& in, void (*call)(void* f), void* f) {
  open_block& b = of(in);
  if (b.is == block_kind::scope)
    return fork_into_scope(b, site_at(__builtin_return_address(0), block_kind::scope), call, f);
  begin_strand(b.of->branch[std::min(b.branches, 2u)]);
  struct leaver {
    open_block& b;
    ~leaver() {
      b.own += end_strand_of_branch();
      compete<which_branch::any>(b);
      ++b.branches;
      b.waits += theft_ticks;
    }
  } at_end{b};
  call(f);
}

void turns(block& in, std::size_t n, void (*call)(void* f, std::size_t turn), void* f) {
  open_block& b = of(in);
  struct leaver {
    open_block& b;
    ~leaver() {
      b.own += end_strand_of_branch();
      compete<which_branch::any>(b);
      ++b.branches;
      b.waits += theft_ticks;
    }
  };
  for (std::size_t turn = 0; turn != n; ++turn) {
    begin_strand(b.of->branch[std::min<std::size_t>(turn, 2)]);
    const leaver at_end{b};
    call(f, turn);
  }
}

void parts(block& in, std::size_t n, std::size_t grain, void (*call)(void* f, std::size_t begin, std::size_t end), void* f) {
  open_block& b = of(in);
  struct leaver {
    open_block& b;
    std::size_t numbers;
    bool is_cut;
    ~leaver() {
      b.own += end_strand_of_branch();
      if (is_cut) learn_part(*b.of, numbers, b.own + b.inner.work());
      compete<which_branch::any>(b);
      ++b.branches;
      b.waits = std::popcount(b.branches) * theft_ticks;
    }
  };
  for (std::size_t first = 0; first != n;) {
    const std::size_t part = grain != 0 ? grain : std::max<std::uint64_t>(b.of->part, 1);
    const std::size_t last = n - first > part ? first + part : n;
    begin_strand(b.of->branch[std::min(b.branches, 2u)]);
    const leaver at_end{b, last - first, grain == 0};
    call(f, first, last);
    first = last;
  }
}

void branch_beside(block& in, void (*call)(void* f), void* f) {
  open_block& b = of(in);
  b.own += end_strand(fork_at(*b.of));
  const path folded = taken(b);
  struct leaver {
    open_block& b;
    const path& folded;
    site* const owner;
    ~leaver() {
      b.own += end_strand_of_branch();
      b.longest = folded;
      compete<which_branch::any>(b);
      ++b.branches;
      b.waits += theft_ticks;
      b.inner = b.longest;
      b.longest = path();
      b.owner = owner;
      begin_strand(find_kind_after(*b.of, *owner, place::fork));
    }
  } at_end{b, folded, b.owner};
  b.owner = b.of;
  begin_strand(b.of->branch[std::min(b.branches, 2u)]);
  call(f);
}

void join(block& joined) noexcept {
  open_block& b = of(joined);
  if (b.is != block_kind::scope) {
    joined.is_open = false;
    return close_site(b);
  }
  b.own += end_strand(&join_of_scope);
  path here = taken(b);
  take_longer(here, b.longest);
  b.longest = path();
  b.inner = here;
  begin_strand(find_kind_after(b.of ? *b.of : outside_of_forks, *b.owner, place::join));
}

void end(block& ended) noexcept {
  open_block& b = of(ended);
  ended.is_open = false;
  if (b.is == block_kind::fold || b.is == block_kind::scope) {
    b.own += end_strand(&join_of_scope);
    path here = taken(b);
    take_longer(here, b.longest);
    b.longest = here;
  }
  if (b.is != block_kind::scope) return close_site(b);
  close(b);
  clock_is_stale();
  begin_strand(find_kind_after(b.of ? *b.of : outside_of_forks, *running->owner, place::block));
}

void run_begins() noexcept {
  start();
  outermost = open_block();
  outermost.owner = &outside_of_forks;
  running = &outermost;
  strands_go_on();
  begin_strand(outside_of_forks.branch[0]);
}

void run_ends() noexcept {
  outermost.own += end_strand(&end_of_run);
  path whole = taken(outermost);
  append(of_all_runs, whole);
  strands_stop();
}

}}}}  // namespace fj::v0_2::detail::profile
