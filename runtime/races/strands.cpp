#include "runtime/races/strands.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "forkjoin/abi/races.hpp"
#include "runtime/os/variable.hpp"
#include "runtime/races/contexts.hpp"
#include "runtime/races/counters.hpp"
#include "runtime/races/locks.hpp"
#include "runtime/races/report.hpp"
#include "runtime/races/start.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

namespace {

constexpr strand_id most_strands = no_strand - 1;

strand_id* bag_memory = nullptr;
block_record* records = nullptr;  // from 1 on
std::uint32_t records_used = 1;
origin* origins = nullptr;
std::size_t origins_used = 0;
std::uint64_t known_cover = 0;  // the number of a block, all of whose branches so far cover the running one

void set_filters() noexcept {
  now.own_from = now.branch.scopes == 0 ? now.branch.own_base : ~strand_id{0};
  now.beside_from = now.branch.scopes == 0 ? now.branch.beside_base : ~strand_id{0};
}

std::uint32_t record_of(open_block* b) noexcept {
  if (b == nullptr) return 0;
  if (b->record == 0) {
    const std::uint32_t parent = record_of(b->owner ? b->owner->of : nullptr);
    b->record = records_used++;
    records[b->record] = {parent, b->owner ? b->owner->ordinal : 0, b->context, b->is, b->pc};
  }
  return b->record;
}

/// Puts the strands of `from`, a root, into the bag of that branch, which runs, or which the running one is in.
void put_before(branch_state& branch, strand_id from) noexcept {
  new_epoch();
  forget_usual();
  bags[from] &= ~is_beside;
  if (branch.bag == 0) {
    branch.bag = from;
  } else {
    bags[from] = root_of(branch.bag);
  }
}
void put_before_this(strand_id from) noexcept { put_before(now.branch, from); }

/// What the owner of the block is made of: the running branch, or one that it is in.
branch_state& state_of_owner(const open_block& b) noexcept {
  if (b.owner == now.frame) return now.branch;
  branch_frame* f = now.frame;
  while (f->parent != b.owner) f = f->parent;
  return f->parents_state;
}

/// Puts what the running branch has done into its block's bag. The flag is the root's.
void put_beside(open_block& b) noexcept {
  if (now.branch.bag == 0) return;
  new_epoch();
  const strand_id mine = root_of(now.branch.bag);
  if (b.bag == 0) {
    b.bag = mine;
    bags[mine] |= is_beside;
  } else {
    bags[mine] = b.bag;
  }
}

[[gnu::always_inline]] inline void forget_stack() noexcept {
  const address top = now.stack_bottom + now.branch.span;
  if (now.branch.low < top) forget(now.branch.low, top);
}

void hold_others(lock_set all) noexcept {
  const aside work;
  hold(all);
}

/// Whether blocks that are open beside b may be joined before b.
bool outlives_others(const open_block& b) noexcept {
  if (&b != now.innermost || b.is == kind::group) return true;
  if (!now.any_order) return false;
  for (const open_block* other = b.outer; other && other->owner == b.owner; other = other->outer)
    if (goes_on_beside(other->is)) return true;
  return false;
}

void enter(branch_frame& frame, open_block& b, strand_id beside_base, address top) noexcept {
  frame = {now.frame, &b, b.branches++, now.strand, now.held, outlives_others(b), now.branch};
  if (frame.escapes) {
    ++now.escaping;
    look_out();
  }
  known_cover = 0;
  if (now.held != 0) hold_others(0);
  now.frame = &frame;
  now.branch = {0, next_strand, beside_base, 0, 0, now.branch.depth, top - now.stack_bottom, top};
  set_strand(0);
  set_filters();
}

/// Task groups may outlive the branch that made them: they are its parent's from then on. Returns how many.
unsigned hand_groups_on(branch_frame& frame) noexcept {
  unsigned groups = 0;
  for (open_block* b = now.innermost; b && b->owner == &frame; b = b->outer, ++groups) b->owner = frame.parent;
  return groups;
}

/// What a branch had on the stack is no more.
void leave(branch_frame& frame) noexcept {
  end_of_branch(&frame);
  forget_stack();
  if (now.held != frame.parents_locks) hold_others(frame.parents_locks);
  const address top = now.stack_bottom + now.branch.span;
  if (now.innermost && now.innermost->owner == &frame) [[unlikely]]
    frame.parents_state.scopes += hand_groups_on(frame);
  now.branch = frame.parents_state;
  now.branch.low = std::min(now.branch.low, top);  // branches have touched what the parent has there, too
  set_strand(frame.parents_strand);
  now.frame = frame.parent;
  if (frame.escapes) {
    --now.escaping;
    look_out();
  }
  known_cover = 0;
  set_filters();
}

/// A branch that forks into a scope of an ancestor: that child may run beside what the branch does from here on, and
/// likewise for all ancestors up to the scope's owner.
void fork_beside_ancestors(const open_block& b) noexcept {
  if (b.owner == now.frame) return;
  ++now.branch.scopes;  // for good
  for (branch_frame* f = now.frame; f && f->parent != b.owner; f = f->parent) ++f->parents_state.scopes;
  set_filters();
}

/// The outermost block begins: no strand so far is looked up again. Their memory is used again; the outermost strand's
/// is the first.
void begin_strands() noexcept {
  const strand_id mine = next_strand++;
  bags = bag_memory - mine;
  bags[mine] = mine;
  now.branch.bag = mine;
  now.serial_below = next_strand;  // what the outermost strand does in the block is before what comes, too
  set_strand(mine);
  origins_used = 0;
  records_used = 1;
}

/// The outermost block ends. If there were many strands, their memory goes; and before the numbers run out, all cells,
/// too.
void end_strands() noexcept {
  constexpr std::size_t many = std::size_t{1} << 22;
  const std::size_t used = next_strand - now.serial_below + 2;
  now.serial_below = ~strand_id{0};
  if (used > many) {
    give_back(bag_memory, used * sizeof(strand_id));
    give_back(records, records_used * sizeof(block_record));
    give_back(origins, origins_used * sizeof(origin));
  }
  if (next_strand <= most_strands / 2) return;
  forget_all();
  next_strand = first_strand;
}

}  // namespace

strand_id number_strand() noexcept {
  const strand_id mine = next_strand++;
  if (mine >= most_strands) {
    std::fputs("forkjoin-races: more than a billion strands touch memory, which is all that the detector can number\n",
               stderr);
    std::_Exit(70);
  }
  // No other strand comes to be beside this one, or before it.
  bags[mine] = now.branch.bag != 0 ? root_of(now.branch.bag) : mine;
  if (now.branch.bag == 0) now.branch.bag = mine;
  number_as(mine);
  const branch_frame* const frame = now.frame;
  const std::uint32_t record = frame ? (frame->of->record != 0 ? frame->of->record : record_of(frame->of)) : 0;
  const std::uint32_t ordinal = frame ? frame->ordinal : 0;
  const origin& last = origins[origins_used - 1];
  if (origins_used == 0 || last.record != record || last.ordinal + (mine - last.first) != ordinal)
    origins[origins_used++] = {mine, record, ordinal};
  return mine;
}

bool covers_escaping(strand_id s) noexcept {
  const strand_id bag = root_of(s);
  const open_block* b = now.innermost;
  while (b && b->bag != bag) b = b->outer;
  if (!b) return false;  // of what is folded
  if (b->number == known_cover) return true;
  // The later one is before what follows the joins of these blocks, one after another: b must not be joined before one
  // of them. The blocks of b's owner are joined from the innermost to the outermost, unless scopes are joined in
  // another order.
  for (const branch_frame* f = now.frame; f != b->owner; f = f->of->owner) {
    const open_block& waits_for = *f->of;
    if (waits_for.number < b->number) return false;
    if (&waits_for == b) continue;
    if (waits_for.is == kind::group || b->is == kind::group) return false;
    if (now.any_order && waits_for.owner == b->owner && waits_for.is == kind::scope) return false;
  }
  known_cover = b->number;
  return true;
}

origin origin_of(strand_id s) noexcept {
  if (s < now.serial_below) return {s, 0, 0};
  const origin* at = std::upper_bound(origins, origins + origins_used, s,
                                      [](strand_id strand, const origin& one) { return strand < one.first; });
  if (at == origins) return {s, 0, 0};
  --at;
  return {s, at->record, at->ordinal + (s - at->first)};
}

origin origin_of_this() noexcept {
  branch_frame* const frame = now.frame;
  if (!frame) return {now.strand, 0, 0};
  return {now.strand, record_of(frame->of), frame->ordinal};
}

const block_record& record(std::uint32_t number) noexcept { return records[number]; }

void start_strands() noexcept {
  bag_memory = static_cast<strand_id*>(reserve(std::size_t{most_strands} * sizeof(strand_id), "strands"));
  records = static_cast<block_record*>(reserve(std::size_t{most_strands} * sizeof(block_record), "blocks"));
  origins = static_cast<origin*>(reserve((std::size_t{most_strands} + 1) * sizeof(origin), "origins"));
  ++origins;  // so that one before the first can be read
  const char* const joins = os::variable("FORKJOIN_RACES_JOINS");
  now.any_order = joins && std::strcmp(joins, "any") == 0;
}

// --- what the twin calls ---

static_assert(sizeof(open_block) <= sizeof(block) && alignof(open_block) <= alignof(block));

static open_block& of(block& b) noexcept { return *reinterpret_cast<open_block*>(b.state); }

void begin(block& unused, block_kind is) noexcept {
  start();
  open_block& b = of(unused);
  if (now.open_blocks++ == 0) {
    begin_strands();
    --now.ignoring;
    now.branch.low = reinterpret_cast<address>(__builtin_frame_address(0));
    now.branch.span = now.branch.low - now.stack_bottom;
  }
  // A fork_join's closures are passed from the strand to its branches, so it must not seem to be one of them.
  if (is == block_kind::fork_join) this_strand();
  b = {static_cast<kind>(is),
       0,
       next_strand,
       0,
       0,
       0,
       now.branch.context,
       reinterpret_cast<address>(__builtin_return_address(0)),
       now.frame,
       0,
       0,
       now.innermost,
       ++now.blocks_opened};
  now.innermost = &b;
  if (is == block_kind::group) now.any_order = true;  // any strand may await it, at any time
  if (goes_on_beside(b.is)) {
    ++now.branch.scopes;
    set_filters();
  } else if (is == block_kind::fold) {
    b.strand_before = now.strand;
    b.bag_before = now.branch.bag;
    now.branch.bag = 0;
    set_strand(0);
  }
}

/// A scope is joined before an inner one of its strand. A reader of the outer one may have stood for branches of the
/// inner one, which need no number then.
[[gnu::noinline, gnu::cold]] static void join_before_inner(address pc) noexcept {
  if (std::exchange(now.any_order, true)) return;
  known_cover = 0;
  note_crossed_joins(pc);
}

void join(block& ended) noexcept {
  open_block& b = of(ended);
  b.joined = b.branches;
  if (b.bag == 0) return;
  for (const open_block* inner = now.innermost; inner && inner != &b; inner = inner->outer)
    if (inner->is == kind::scope && inner->branches != inner->joined)
      join_before_inner(reinterpret_cast<address>(__builtin_return_address(0)));
  // By a branch that waits for a group: the owner's, so that other branches that wait for it come after its tasks, too.
  put_before(state_of_owner(b), b.bag);
  b.bag = 0;
}

void end(block& ended) noexcept {
  open_block& b = of(ended);
  join(ended);
  for (open_block** at = &now.innermost; *at; at = &(*at)->outer) {
    if (*at != &b) continue;
    *at = b.outer;
    break;
  }
  if (goes_on_beside(b.is)) {
    --state_of_owner(b).scopes;
    set_filters();
  } else if (b.is == kind::fold) {
    const strand_id folded = now.branch.bag;
    now.branch.bag = b.bag_before;
    if (folded != 0) put_before_this(root_of(folded));
    set_strand(b.strand_before);
  }
  if (--now.open_blocks != 0) return;
  forget_counters();
  ++now.ignoring;
  now.branch.span = 0;
  end_strands();
}

void branch(block& in, void (*call)(void* f), void* f, std::size_t size) {
  open_block& b = of(in);
  if (goes_on_beside(b.is)) fork_beside_ancestors(b);
  branch_frame frame;
  enter(frame, b, goes_on_beside(b.is) ? ~strand_id{0} : b.first,
        reinterpret_cast<address>(__builtin_frame_address(0)));
  const struct leaver {
    open_block& b;
    branch_frame& frame;
    address f;
    std::size_t size;
    ~leaver() {
      put_beside(b);
      leave(frame);
      forget(f, f + size);
    }
  } at_end{b, frame, reinterpret_cast<address>(f), size};
  call(f);
}

void branch_beside(block& in, void (*call)(void* f), void* f, std::size_t size) {
  open_block& b = of(in);
  const strand_id folded = now.branch.bag ? root_of(now.branch.bag) : 0;
  if (folded) bags[folded] |= is_beside;
  new_epoch();  // entering forgets what is usual
  const auto closure = reinterpret_cast<address>(f);
  forget(closure, closure + size);  // the strand has made it, but not as a part of the program
  // What it had on the stack while it folded is no more, and the branch uses the same addresses.
  const auto top = reinterpret_cast<address>(__builtin_frame_address(0));
  if (now.branch.low < top) forget(std::exchange(now.branch.low, top), top);
  branch_frame frame;
  enter(frame, b, b.first, top);
  const struct leaver {
    branch_frame& frame;
    strand_id folded;
    address f;
    std::size_t size;
    ~leaver() {
      const strand_id mine = now.branch.bag;
      leave(frame);
      if (folded) bags[folded] &= ~is_beside;
      new_epoch();
      if (mine) put_before_this(root_of(mine));
      forget(f, f + size);
    }
  } at_end{frame, folded, closure, size};
  call(f);
}

void iterations(block& in, std::size_t n, void (*call)(void* f, std::size_t iteration), void* f, std::size_t size) {
  if (n == 0) return;
  open_block& b = of(in);
  b.first = next_strand;
  branch_frame frame;
  enter(frame, b, b.first, reinterpret_cast<address>(__builtin_frame_address(0)));
  const struct leaver {
    open_block& b;
    branch_frame& frame;
    address f;
    std::size_t size;
    ~leaver() {
      put_beside(b);
      leave(frame);
      forget(f, f + size);
    }
  } at_end{b, frame, reinterpret_cast<address>(f), size};
  for (std::size_t iteration = 0;;) {
    call(f, iteration);
    if (++iteration == n) return;
    // As leave and enter, without what stays the same.
    end_of_branch(&frame);
    if (now.innermost && now.innermost->owner == &frame) [[unlikely]]
      frame.parents_state.scopes += hand_groups_on(frame);
    ++frame.ordinal;
    b.branches = frame.ordinal + 1;
    now.branch.context = 0;
    now.branch.depth = frame.parents_state.depth;
    now.branch.scopes = 0;
    if (now.held != 0) hold_others(0);
    if (now.branch.bag == 0) continue;  // it has touched nothing
    put_beside(b);
    forget_stack();
    now.branch.low = now.stack_bottom + now.branch.span;
    now.branch.bag = 0;
    now.branch.own_base = next_strand;
    number_as(0);
    set_filters();
  }
}

std::uint32_t strand_here() noexcept { return this_strand(); }

bool runs_beside(std::uint32_t strand) noexcept { return strand != now.strand && beside(strand); }

}}}}  // namespace fj::v0_4::detail::races
