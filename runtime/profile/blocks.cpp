// What the twin calls: blocks and their branches, in the order of the serial program.
//
// Each open block has the path of the branch that runs in it: what it has done since it began. At the end of a branch
// its path competes with those of the others of its block, and at the join the longest is appended to the path of the
// branch that the block is in.
//
// A theft is put on each edge by which a thief would go on, as Cilkview has it (He, Leiserson and Leiserson, "The
// Cilkview scalability analyzer", 2010): the first branch of a block runs where the fork is, the second one after a
// theft; the third one is stolen from the thief that runs the second. The parts of a loop are stolen in halves, so the
// part i waits for as many thefts as i has bits that are set.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "forkjoin/abi/os/compiler.hpp"
#include "forkjoin/abi/os/ticks.hpp"
#include "forkjoin/abi/profile.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/profile/dag.hpp"
#include "runtime/profile/earlier_runs.hpp"
#include "runtime/profile/paths.hpp"
#include "runtime/profile/sites.hpp"
#include "runtime/profile/start.hpp"
#include "runtime/profile/strands.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

namespace {

/// What is in a block.
struct open_block {
  // Of the branch that runs in it; in a scope and in a fold, between the branches, of the strand that began it.
  path inner;    // from its begin: the blocks that have ended in it
  double own;    // ticks: the strands between them
  double waits;  // ticks of thefts, before the branch
  path longest;  // of the branches that have ended
  site* of;      // of a scope: where it was forked into last
  site* owner;   // of the strands
  open_block* around;
  const path* child_from;  // of a scope while a child of it runs: from the scope's begin to the fork
  std::uint32_t branches;  // that have ended
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

[[gnu::noinline]] void close_slow(open_block& b) {
  if (b.of && b.of->outermost_block == &b) note_outermost(*b.of, b.longest);
  append(b.around->inner, b.longest);
  clock_is_stale();
}

/// What no branch is around is told apart by the fork or join that it follows. It may be in scopes and folds.
[[gnu::noinline]] void go_on_outside(site& whose) {
  path before = strand_of(running->owner->line, running->own);
  append(running->inner, before);
  running->own = 0;
  running->owner = &whose;
  clock_is_stale();
}

/// Of a block of one site: the strand that began it goes on.
[[gnu::always_inline]] inline void go_on(open_block& b) {
  running = b.around;
  if (running->owner->is_outside) [[unlikely]]
    go_on_outside(strands_after(*b.of));
  begin_strand(kind_after_block(*b.of, *running->owner));
}

/// The block ends. Its longest path is appended to that of the branch around it.
[[gnu::always_inline]] inline void close(open_block& b) {
  if (b.is != block_kind::fold || b.branches != 0) dag::block_ends();
  path& around = b.around->inner;
  if (b.of->outermost_block != &b && (around.whose == b.longest.whose || around.whose.none())) [[likely]] {
    around.lengths += b.longest.lengths;
    around.others += b.longest.others;
    around.whose = b.longest.whose;
  } else {
    close_slow(b);
  }
  go_on(b);
}

[[gnu::noinline]] void compete_slow(open_block& b) {
  path whole = taken(b);
  path thefts = thefts_at(b.of->line, b.waits);
  append(whole, thefts);
  take_longer(b.longest, whole);
}

/// The path of the branch that has ended, after its thefts, if all of it is of the block's site.
[[gnu::always_inline]] inline path path_of_branch(const open_block& b) {
  return {b.inner.lengths + pair{b.own, b.own + b.waits}, b.inner.others + pair{b.own / 2 + b.waits, b.own},
          owners(b.of->line)};
}

[[gnu::always_inline]] inline path longer(const path& a, const path& b) {
  return {larger(a.lengths, b.lengths), pair{larger(a.others, b.others)[0], (a.others + b.others)[1]}, b.whose};
}

/// Whether a path has strands of this site only, or none.
[[gnu::always_inline]] inline bool is_of(const path& one, const site* line) {
  return one.whose == owners(line) || one.whose.none();
}

/// The first branch of the block has ended.
[[gnu::always_inline]] inline void compete_first(open_block& b) {
  b.own += dag::strand(end_strand_of_branch());
  dag::branch_ends();
  if (is_of(b.inner, b.of->line)) [[likely]] {
    b.longest = path_of_branch(b);
    b.inner = path();
    b.own = 0;
  } else {
    b.longest = path();
    compete_slow(b);
  }
}

/// A branch of the block has ended, and so has its strand.
[[gnu::always_inline]] inline void compete(open_block& b) {
  if (is_of(b.inner, b.of->line) && is_of(b.longest, b.of->line)) [[likely]] {
    b.longest = longer(b.longest, path_of_branch(b));
    b.inner = path();
    b.own = 0;
  } else {
    compete_slow(b);
  }
}

/// The last branch of the block has ended, and so has the block. As compete and close, but nothing goes by way of
/// memory.
[[gnu::always_inline]] inline void compete_last(open_block& b) {
  b.own += dag::strand(end_strand_of_branch());
  dag::branch_ends();
  dag::block_ends();
  const site* const line = b.of->line;
  path& around = b.around->inner;
  if (is_of(b.inner, line) && is_of(b.longest, line) && is_of(around, line) && b.of->outermost_block != &b) [[likely]] {
    const path longest = longer(b.longest, path_of_branch(b));
    around.lengths += longest.lengths;
    around.others += longest.others;
    around.whose = longest.whose;
  } else {
    compete_slow(b);
    close_slow(b);
  }
  go_on(b);
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
  const double fits =
      double(tuning::shortest_chunk_ns) * ticks_per_ns * of.numbers_of_parts / std::max(of.time_of_parts, 1.0);
  const double most = 8 * static_cast<double>(std::max<std::uint64_t>(of.part, 1));
  of.part = static_cast<std::uint64_t>(std::clamp(fits, 1.0, most));
}

/// A loop that is one such part: a strand runs it alone, as the library does with loops of a few microseconds.
void note_alone(site& of, std::size_t numbers, double ticks) noexcept {
  ++of.lone_loops;
  of.lone_numbers += static_cast<double>(numbers);
  of.lone_ticks += ticks;
}

/// The scope may be around the branch that runs, and so may be blocks in it.
void fork_into_scope(open_block& scope, site& at, void (*call)(void* f), void* f) {
  running->own += dag::strand(end_strand(fork_at(at)));
  if (running != &scope || scope.child_from)
    dag::give_up(
        "a branch forks into a scope of a function that called it, which is no graph of forks within one another");
  dag::branch_ends();
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
      scope.own += dag::strand(end_strand_of_branch());
      dag::branch_ends();
      dag::branch_begins();
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
      if (running->owner->is_outside) go_on_outside(strands_beside(at));
      clock_is_stale();
      begin_strand(find_kind_after(at, *running->owner, place::fork));
    }
  } at_end{scope, at, from, here, running, scope.inner, scope.own, scope.owner, scope.child_from};
  scope.inner = path();
  scope.own = 0;
  scope.owner = &at;
  scope.child_from = &from;
  running = &scope;
  dag::branch_begins();
  begin_strand(at.branch[0]);
  call(f);
}

// --- what the profile itself takes ---

}  // namespace

void fork_two(closure first, closure second) {
  site& at = site_at(__builtin_return_address(0), block_kind::fork_join);
  running->own += dag::strand(end_strand(&at));
  open_block b;
  open(b, block_kind::fork_join, &at, &at);
  dag::block_begins(dag_block::branches);
  if (!at.outermost_block) at.outermost_block = &b;
  try {
    const struct leaver {
      open_block& b;
      ~leaver() { compete_first(b); }
    } at_end{b};
    dag::branch_begins();
    begin_strand(at.branch[0]);
    first.call(first.f);
  } catch (...) {
    close(b);
    throw;
  }
  b.waits = theft_ticks;
  const struct leaver {
    open_block& b;
    ~leaver() { compete_last(b); }
  } at_end{b};
  dag::branch_begins();
  begin_strand(at.branch[1]);
  second.call(second.f);
}

void begin(block& begun, block_kind is) noexcept {
  open_block& b = of(begun);
  begun.is_open = true;
  if (is == block_kind::scope) {
    running->own += dag::strand(end_strand(&begin_of_scope));
    open(b, is, nullptr, running->owner);
    dag::block_begins(dag_block::in_turn);
    dag::branch_begins();
    return begin_strand(find_kind_after(outside_of_forks, *running->owner, place::begin_of_block));
  }
  site& at = site_at(__builtin_return_address(0), is);
  running->own += dag::strand(end_strand(&at));
  site* const owner = is == block_kind::fold ? running->owner : &at;
  open(b, is, &at, owner);
  if (is != block_kind::fold) dag::block_begins(dag_block::branches);
  b.longest = path();
  if (!at.outermost_block) at.outermost_block = running;
  if (is == block_kind::fold) begin_strand(find_kind_after(at, *owner, place::begin_of_block));
}

void branch(block& in, void (*call)(void* f), void* f) {
  open_block& b = of(in);
  if (b.is == block_kind::scope)
    return fork_into_scope(b, site_at(__builtin_return_address(0), block_kind::scope), call, f);
  dag::branch_begins();
  begin_strand(b.of->branch[std::min(b.branches, 2u)]);
  struct leaver {
    open_block& b;
    ~leaver() {
      b.own += dag::strand(end_strand_of_branch());
      dag::branch_ends();
      compete(b);
      ++b.branches;
      b.waits += theft_ticks;
    }
  } at_end{b};
  call(f);
}

void iterations(block& in, std::size_t n, void (*call)(void* f, std::size_t iteration), void* f) {
  open_block& b = of(in);
  struct leaver {
    open_block& b;
    ~leaver() {
      b.own += dag::strand(end_strand_of_branch());
      dag::branch_ends();
      compete(b);
      ++b.branches;
      b.waits += theft_ticks;
    }
  };
  for (std::size_t iteration = 0; iteration != n; ++iteration) {
    dag::branch_begins();
    begin_strand(b.of->branch[std::min<std::size_t>(iteration, 2)]);
    const leaver at_end{b};
    call(f, iteration);
  }
}

void parts(block& in, std::size_t n, std::size_t grain, void (*call)(void* f, std::size_t begin, std::size_t end),
           void* f) {
  open_block& b = of(in);
  struct leaver {
    open_block& b;
    std::size_t numbers;
    bool is_cut, is_alone;
    ~leaver() {
      b.own += dag::strand(end_strand_of_branch());
      dag::branch_ends();
      if (is_cut) learn_part(*b.of, numbers, b.own + b.inner.work());
      if (is_alone) note_alone(*b.of, numbers, b.own + b.inner.work());
      compete(b);
      ++b.branches;
      b.waits = std::popcount(b.branches) * theft_ticks;
    }
  };
  dag::block_is(dag_block::parts);
  for (std::size_t first = 0; first != n;) {
    const std::size_t part = grain != 0 ? grain : std::max<std::uint64_t>(b.of->part, 1);
    const std::size_t last = n - first > part ? first + part : n;
    dag::branch_begins();
    begin_strand(grain == 0 ? kind_of_part(*b.of, last - first) : b.of->branch[std::min(b.branches, 2u)]);
    const leaver at_end{b, last - first, grain == 0, grain == 0 && last - first == n && n > 1};
    call(f, first, last);
    first = last;
  }
}

void branch_beside(block& in, void (*call)(void* f), void* f) {
  open_block& b = of(in);
  b.own += dag::strand(end_strand(fork_at(*b.of)));
  if (b.branches == 0) {
    dag::block_begins(dag_block::branches);
  } else {
    dag::branch_ends();
  }
  dag::branch_begins();  // it ends when its value has been folded
  const path folded = taken(b);
  struct leaver {
    open_block& b;
    const path& folded;
    site* const owner;
    ~leaver() {
      b.own += dag::strand(end_strand_of_branch());
      b.longest = folded;
      compete(b);
      ++b.branches;
      b.waits += theft_ticks;
      b.inner = b.longest;
      b.longest = path();
      b.owner = owner;
      if (owner->is_outside) go_on_outside(strands_beside(*b.of));
      begin_strand(find_kind_after(*b.of, *b.owner, place::fork));
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
    return close(b);
  }
  b.own += dag::strand(end_strand(&join_of_scope));
  if (running != &b)
    dag::give_up(
        "a scope is joined while another one, begun later, is open, which is no graph of forks within one another");
  dag::branch_ends();
  dag::block_ends();
  dag::block_begins(dag_block::in_turn);
  dag::branch_begins();
  path here = taken(b);
  take_longer(here, b.longest);
  b.longest = path();
  b.inner = here;
  if (b.of && b.owner->is_outside) go_on_outside(strands_after(*b.of));
  begin_strand(find_kind_after(b.of ? *b.of : outside_of_forks, *b.owner, place::join));
}

void end(block& ended) noexcept {
  open_block& b = of(ended);
  ended.is_open = false;
  if (b.is == block_kind::fold || b.is == block_kind::scope) {
    b.own += dag::strand(end_strand(&join_of_scope));
    if (b.is == block_kind::scope || b.branches != 0) dag::branch_ends();
    path here = taken(b);
    take_longer(here, b.longest);
    b.longest = here;
  }
  if (b.is != block_kind::scope) return close(b);
  dag::block_ends();
  append(b.around->inner, b.longest);
  running = b.around;
  if (b.of && running->owner->is_outside) go_on_outside(strands_after(*b.of));
  begin_strand(find_kind_after(b.of ? *b.of : outside_of_forks, *running->owner, place::block));
}

namespace {

/// Takes a time that is proportional to n, as each step waits for the one before.
[[gnu::noinline]] long steps(long n) {
  long x = n;
  for (long i = 0; i != n; ++i) x = os::opaque(x * 3);
  return x;
}

/// As the twin makes a fork_join of two closures that return a number.
struct kept {
  long value;
  bool came = false;
};

/// A tree of forks whose leaves take so many steps. Returns the number of forks.
[[gnu::noinline]] long fork_tree(int depth, long steps_of_leaf) {
  if (depth == 0) {
    if (steps_of_leaf != 0) os::opaque(steps(steps_of_leaf));
    return 0;
  }
  const auto deeper = [=] { return fork_tree(depth - 1, steps_of_leaf); };
  kept one, two;
  struct branch_of_two {
    kept& result;
    const decltype(deeper)& f;
    static void call(void* f) {
      auto& self = *static_cast<branch_of_two*>(f);
      self.result.value = self.f();
      self.result.came = true;
    }
  };
  branch_of_two first{one, deeper}, second{two, deeper};
  os::opaque (&fork_two)({&branch_of_two::call, &first}, {&branch_of_two::call, &second});
  return one.came + one.value + two.value;
}

/// Which strands are timed.
enum class timed { none, first_branches, all };

void time_strands(timed which) {
  for (site* const at : all_sites()) {
    for (strand_kind* const kind : {&at->branch[0], &at->branch[1], &find_kind_after(*at, *at, place::block)}) {
      kind->timed = way::learning;
      kind->look_at = ~0u;
      kind->left = which == timed::all || (which == timed::first_branches && kind == &at->branch[0]) ? 1 : ~0u;
      for (strand_type* const type : kind->types) type->timed = 0;
    }
  }
  strand = {};
  begin_strand(outside_of_forks.branch[1]);
}

/// Ticks of a first branch of so many steps, as it is timed. The mean, as the counter may go in steps of ten
/// nanoseconds, but of a few that took longest.
double ticks_of_branch(timed which, long steps) {
  std::vector<float> all;
  for (int round = 0; round != 10; ++round) {
    time_strands(which);
    for (int i = 0; i != 70; ++i) os::opaque (&fork_tree)(1, steps);
    for (const site* const at : all_sites())
      for (const strand_type* const type : at->branch[0].types)
        all.insert(all.end(), type->newest.begin(),
                   type->newest.begin() + std::min<std::ptrdiff_t>(type->timed, std::ssize(type->newest)));
  }
  std::ranges::sort(all);
  all.resize(std::max<std::size_t>(all.size() - all.size() / 8, 1));
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

}  // namespace

void measure_costs() {
  constexpr int depth = 7;
  constexpr long some = 200;  // the CPU does the profile's own work beside the first of them
  outermost = open_block();
  outermost.owner = &outside_of_forks;
  running = &outermost;
  strand = {};
  begin_strand(outside_of_forks.branch[1]);
  fork_tree(depth, 0);  // makes the site
  cost = {std::numeric_limits<double>::max(), 0, 0};
  for (int i = 0; i != 20; ++i) {
    time_strands(timed::none);
    const std::uint64_t begin = os::ticks_in_order();
    const long forks = os::opaque(&fork_tree)(depth, 0);
    cost.event =
        std::min(cost.event, static_cast<double>(os::ticks_in_order() - begin) / static_cast<double>(3 * forks));
  }
  const double shared = 2 * ticks_of_branch(timed::all, some) - ticks_of_branch(timed::all, 2 * some);
  cost.fresh = std::max(
      0.0, 2 * ticks_of_branch(timed::first_branches, some) - ticks_of_branch(timed::first_branches, 2 * some));
  cost.shared = std::max(0.0, shared);
  forget_sites();
  strand = {};
}

void run_begins() noexcept {
  start();
  if (is_in_run) {
    std::fputs(
        "forkjoin-profile: two threads call fj::run at the same time; a program that is profiled has one that does\n",
        stderr);
    std::abort();
  }
  is_in_run = true;
  outermost = open_block();
  outermost.owner = &outside_of_forks;
  running = &outermost;
  dag::run_begins();
  strands_go_on();
  begin_strand(outside_of_forks.branch[0]);
}

void run_ends() noexcept {
  outermost.own += dag::strand(end_strand(&end_of_run));
  dag::run_ends();
  path whole = taken(outermost);
  append(of_all_runs, whole);
  is_in_run = false;
}

}}}}  // namespace fj::v0_4::detail::profile
