// The graph of forks itself, for a simulator of schedulers (bench/simulate/README.md has the format):
// FORKJOIN_PROFILE_DAG names the file. Else nothing is recorded, and each function below costs a test.
//
// Branches that do the same are kept once. So the file of a recursion is small if its strands are too brief to be timed
// one by one; of a program whose strands are timed one by one it has them all.
#pragma once

#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

/// What is between two nodes of the graph. Branches: two are a fork, more have one join. Parts: of a loop, which is cut
/// in halves. In turn: what the owner of a scope does and its children, in turn.
enum class dag_block : std::uint64_t { branches, parts, in_turn };

namespace dag {

/// Whether the graph is wanted, and can be had so far.
inline bool is_recorded = false;

/// If FORKJOIN_PROFILE_DAG is set.
void start() noexcept;

void run_begins_slow() noexcept;
void run_ends_slow() noexcept;
void strand_slow(double ticks) noexcept;
void branch_begins_slow() noexcept;
void branch_ends_slow() noexcept;
void block_begins_slow(dag_block is) noexcept;
void block_is_slow(dag_block is) noexcept;
void block_ends_slow() noexcept;

/// A graph of branches that fork and join cannot have this. The graph is given up, and the program's end says why.
void give_up(const char* why) noexcept;

// A run, a branch, a block: what begins last ends first. Blocks are in branches, and branches are in blocks or in a
// run.

inline void run_begins() noexcept {
  if (is_recorded) [[unlikely]]
    run_begins_slow();
}
inline void run_ends() noexcept {
  if (is_recorded) [[unlikely]]
    run_ends_slow();
}
/// A strand of the branch that begins last has taken so long.
[[gnu::always_inline]] inline double strand(double ticks) noexcept {
  if (is_recorded) [[unlikely]]
    strand_slow(ticks);
  return ticks;
}
[[gnu::always_inline]] inline void branch_begins() noexcept {
  if (is_recorded) [[unlikely]]
    branch_begins_slow();
}
[[gnu::always_inline]] inline void branch_ends() noexcept {
  if (is_recorded) [[unlikely]]
    branch_ends_slow();
}
[[gnu::always_inline]] inline void block_begins(dag_block is) noexcept {
  if (is_recorded) [[unlikely]]
    block_begins_slow(is);
}
/// Of the block that began last.
[[gnu::always_inline]] inline void block_is(dag_block is) noexcept {
  if (is_recorded) [[unlikely]]
    block_is_slow(is);
}
[[gnu::always_inline]] inline void block_ends() noexcept {
  if (is_recorded) [[unlikely]]
    block_ends_slow();
}

/// To the file, or says on standard error why not.
void write(bool is_whole) noexcept;

}  // namespace dag

}}}}  // namespace fj::v0_4::detail::profile
