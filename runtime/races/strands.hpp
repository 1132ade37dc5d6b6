// Which strands could run beside one another: SP-bags (Feng and Leiserson, "Efficient detection of determinacy races in
// Cilk programs", 1997), for forks into scopes of ancestors as Raman and others have it ("Efficient data race detection
// for async-finish parallelism", 2010): a block's bag takes the strands of its branches, whoever forked them.
//
// Strands are numbered when they first touch memory. Each is in a bag, a set of a union-find; a bag is `beside` the
// running strand if it is of branches of a block that is not joined yet, else before it. Three comparisons save most
// look-ups, as numbers grow:
//   1. strands before the outermost open block come before all that runs now;
//   2. what the running branch has made is before it, unless a scope of it is open;
//   3. earlier branches of the innermost block run beside it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/races/shadow.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

enum class kind : std::uint32_t { fork_join, loop, fold, scope, group };

/// Whether what the strand does after a fork runs beside the child.
constexpr bool goes_on_beside(kind is) noexcept { return is >= kind::scope; }

struct branch_frame;

/// As forkjoin/races/observer.hpp's block.
struct open_block {
  kind is;
  strand_id bag;         // of the branches that have ended
  strand_id first;       // strands from here on are of its branches, or of what the strand does between them
  std::uint32_t record;  // 0 until a strand needs it
  std::uint32_t branches;
  std::uint32_t joined;   // of the branches
  std::uint32_t context;  // where the block begins
  address pc;
  branch_frame* owner;
  strand_id strand_before, bag_before;  // of a fold: what the strand had before it
  open_block* outer;                    // that was opened before it
  std::uint64_t number;                 // in the order in which blocks were opened
};

/// What a branch is made of, beside the strand's number.
struct branch_state {
  strand_id bag = 0;          // the strands that are before what comes next in the branch, since it began
  strand_id own_base = 0;     // strands from here on are of the branch, and what it has forked
  strand_id beside_base = 0;  // from here up to there they are of earlier branches of its block
  std::uint32_t scopes = 0;   // that are open, so that some of its own strands are not before it
  std::uint32_t context = 0;  // the calls since the branch began
  std::uint32_t depth = 0;
  address span = 0;  // of its stack, from stack_bottom on
  address low = 0;   // the lowest address of it that the branch has touched
};

/// A branch that runs, with what its parent was when it began.
struct branch_frame {
  branch_frame* parent;
  open_block* of;
  std::uint32_t ordinal;
  strand_id parents_strand;
  std::uint32_t parents_locks;
  bool escapes;  // of a scope that is not the innermost block: the inner ones may be joined before it ends to count
  branch_state parents_state;
};

/// For reports: a block whose branches have touched memory, and where it begins.
struct block_record {
  std::uint32_t parent;  // the block of the branch that it is in, and which branch that is
  std::uint32_t ordinal;
  std::uint32_t context;
  kind is;
  address pc;
};

/// The strands from `first` on, to the next entry, are of branches of that block: `ordinal` of the first, and so on.
struct origin {
  strand_id first;
  std::uint32_t record;
  std::uint32_t ordinal;
};

/// The strand that runs.
struct running {
  strand_id strand = 0;  // none yet: 0
  strand_id here = 0;    // for comparisons with cells: as strand, but what no cell has while there is none
  std::uint64_t here_twice = 0;
  // What cells had that were read last without effect, as neighbours have the same: a writer from before the outermost
  // block, and a reader that runs beside the strand, and beside all later iterations of its loop. One for each parity
  // of the reader, as loops over rows read those of two iterations.
  struct {
    std::uint64_t writer, reader;
  } usual[2] = {{~std::uint64_t{0}, 0}, {~std::uint64_t{0}, 0}};
  strand_id serial_below = ~strand_id{0};
  strand_id own_from = 0;
  strand_id beside_from = 0;
  std::byte* shadow_base = nullptr;  // where the cells begin
  address stack_bottom = 0;
  // What threads have for themselves is of no interest: two strands that run at the same time are in two threads.
  address thread_locals = 0;
  std::size_t thread_locals_size = 0;
  bool careful = false;  // while locks are held, or a branch escapes
  // Accesses count only while this is 0. What comes while no block is open is before all that follows, so it need not
  // be known.
  int ignoring = 1;
  branch_state branch;
  branch_frame* frame = nullptr;
  open_block* innermost = nullptr;
  std::uint64_t blocks_opened = 0;
  unsigned open_blocks = 0;
  unsigned escaping = 0;  // branches that escape, among those that run
  // A strand may join an outer scope of its own before an inner one. Until one does, the inner one is taken to be
  // joined first.
  bool any_order = false;
  std::uint32_t held = 0;   // the locks: locks.hpp
  std::uint32_t epoch = 1;  // grows when strands come to be before the running one, or beside it
  // While the strand is the last owner of a counter (counters.hpp): the number of calls that must be open. 0: not now.
  std::uint32_t last_owner_below = 0;
  unsigned working = 0;  // while it is not 0 the detector works for itself
};

inline constexpr strand_id no_strand = 0x3fffffff;  // what no cell has

inline running now;
// The parent of each strand in its set; a root has itself, and is_beside if its set is beside `now`.
inline strand_id* bags = nullptr;
// Of strands from the outermost one on: those before it are not looked up
inline constexpr strand_id is_beside = 0x80000000u;
inline constexpr strand_id first_strand = 1;
inline strand_id next_strand = first_strand;
[[gnu::always_inline]] inline cells& cells_of(address a) noexcept {
  return *reinterpret_cast<cells*>(now.shadow_base + shadow_offset(a));
}

inline void look_out() noexcept { now.careful = now.held != 0 || now.escaping != 0; }

/// While the detector works for itself: what it calls may be one of the functions that it watches.
class aside {
 public:
  aside() noexcept {
    ++now.ignoring;
    ++now.working;
  }
  ~aside() {
    --now.ignoring;
    --now.working;
  }
  aside(const aside&) = delete;
  aside& operator=(const aside&) = delete;
};

/// What was usual may have an effect now.
inline void forget_usual() noexcept { now.usual[0].writer = now.usual[1].writer = ~std::uint64_t{0}; }

/// In the same branch, or in the next iteration of a loop: what is usual stays so.
inline void number_as(strand_id strand) noexcept {
  now.strand = strand;
  now.here = strand ? strand : no_strand;
  now.here_twice = now.here * 0x100000001u;
}

inline void set_strand(strand_id strand) noexcept {
  forget_usual();
  number_as(strand);
}

inline strand_id root_of(strand_id s) noexcept {
  for (;;) {
    const strand_id parent = bags[s] & ~is_beside;
    if (parent == s) return s;
    const strand_id above = bags[parent] & ~is_beside;
    if (above != parent) bags[s] = above;  // halves the path
    s = parent;
  }
}

// What the last look-ups gave: an epoch, and a strand with is_beside or without.
inline constexpr std::size_t known_strands = 64;
inline std::uint64_t known[known_strands];

[[gnu::always_inline]] inline bool is_known(strand_id s, strand_id flag) noexcept {
  return known[s % known_strands] == (std::uint64_t{now.epoch} << 32 | s | flag);
}

inline void new_epoch() noexcept {
  if (++now.epoch != 0) return;
  for (std::uint64_t& one : known) one = 0;
  now.epoch = 1;
}

/// Whether s, which is not the running strand, is before it, or could run beside it, without a look-up: if neither is
/// true that is open.
[[gnu::always_inline]] inline bool surely_before(strand_id s) noexcept {
  return s < now.serial_below ||
         (s < no_strand && (s >= now.own_from || is_known(s, 0)));  // not what is special in a cell
}
[[gnu::always_inline]] inline bool surely_beside(strand_id s) noexcept {
  return s >= now.serial_below && ((s >= now.beside_from && s < now.own_from) || is_known(s, is_beside));
}

/// Whether s, which is not the running strand, could run beside it.
[[gnu::always_inline]] inline bool beside(strand_id s) noexcept {
  if (s < now.serial_below) return false;
  if (s >= now.own_from) return false;
  if (s >= now.beside_from) return true;
  const strand_id flag = bags[root_of(s)] & is_beside;
  known[s % known_strands] = std::uint64_t{now.epoch} << 32 | s | flag;
  return flag != 0;
}

/// As covers, where a branch escapes.
bool covers_escaping(strand_id s) noexcept;

/// Of two readers that run beside one another a cell keeps the earlier one, s: whether that runs beside all that the
/// later one, which runs now, will run beside, and that comes later. So it is, unless a branch escapes inner blocks
/// that s is of.
[[gnu::always_inline]] inline bool covers(strand_id s) noexcept { return now.escaping == 0 || covers_escaping(s); }

/// The number of the running strand, which touches memory.
strand_id number_strand() noexcept;

[[gnu::always_inline]] inline strand_id this_strand() noexcept {
  return now.strand != 0 ? now.strand : number_strand();
}

/// Where a strand comes from: of which block's branches, and which one. No block: 0.
origin origin_of(strand_id s) noexcept;
/// Of the running strand.
origin origin_of_this() noexcept;
const block_record& record(std::uint32_t number) noexcept;

void start_strands() noexcept;

}}}}  // namespace fj::v0_4::detail::races
