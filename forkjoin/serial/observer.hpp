// Where the serial twin tells an instrument of the forks that it does not make. Without an instrument nothing of this
// is in the program: the twin's instructions are those of plain calls.
//
// FORKJOIN_RACES chooses forkjoin/races/observer.hpp, FORKJOIN_PROFILE forkjoin/profile/observer.hpp; both imply
// FORKJOIN_SERIAL. Each of these headers defines the names below, with these meanings. All calls come from one thread,
// in the order of the serial program.
//
//   is_observed           true: the twin keeps results apart until the join, and tells of each iteration of a loop
//   sees_all_forks        true if algorithms are to fork down to a few elements, as the instrument wants to see what
//                         any number of Ps could do; false if they are to fork as they do on a few P
//   fork_block            a group of branches that end at one join. Blocks nest
//     fork_block(kind)      where it begins: a fork_join, a loop, a fold (fork_reduce), a scope, or a task group, which
//                           is as a scope, but may outlive the branch that made it, and be joined by another one. The
//                           place of the fork is where this constructor and the functions below are called from, and
//                           the type F names the user's closure
//     branch(f)             calls f() as a branch. It may run beside all other branches of the block; in a scope also
//                           beside what the strand does from here to the join. f may throw, which ends the branch. f is
//                           an object of the twin, which nothing uses afterwards. While a scope's branch runs, it and
//                           all below it may call branch of that scope
//     branches(f...)        each f() as a branch, and a join: all that a fork_join does
//     iterations(n, f)      f(0) to f(n - 1), each as a branch. One that throws is the last
//     branch_beside(f)      in a fold: as branch, but joined at once, as the strand needs its result. It may run beside
//                           all that the strand has done since the block began
//     parts(n, grain, f)    f(begin, end) for parts of [0, n) that follow each other, each as a branch: of `grain`
//                           numbers, or if that is 0 as a loop without a grain is cut on a few P. Only if
//                           sees_all_forks is false
//     join()                what follows comes after all branches so far; then there may be new ones. The destructor
//                           does the same
//   run_begins()            the program enters the outermost call of run, or a fork that is in no call of run
//   run_ends()              it leaves that call
//   unseen<T>             T for state of the twin that branches share in one thread, and would not share in many
//   unobserved            an object; while it is there the program does what the instrument is not to see
//   strand_here()         a strand_number of the strand that runs
//   runs_beside(strand)   whether some schedule could run what that strand has done so far beside the caller
#pragma once

#include <cstddef>

#if defined(FORKJOIN_RACES)
#include "forkjoin/races/observer.hpp"
#elif defined(FORKJOIN_PROFILE)
#include "forkjoin/profile/observer.hpp"
#else

namespace fj { inline namespace v0_4 { namespace detail {

#ifdef FORKJOIN_SERIAL
/// Where an instrument finds that not all of a program was compiled for it.
[[gnu::used]] inline const char is_serial_without_observer = 0;
#endif

inline constexpr bool is_observed = false;
inline constexpr bool sees_all_forks = false;

enum class block_kind { fork_join, loop, fold, scope, group };

class fork_block {
 public:
  constexpr explicit fork_block(block_kind) noexcept {}

  template <class F>
  [[gnu::always_inline]] void branch(F&& f) {
    f();
  }

  template <class... F>
  [[gnu::always_inline]] void branches(F&&... f) {
    (f(), ...);
  }

  template <class F>
  [[gnu::always_inline]] void iterations(std::size_t n, F&& f) {
    for (std::size_t i = 0; i != n; ++i) f(i);
  }

  template <class F>
  [[gnu::always_inline]] void branch_beside(F&& f) {
    f();
  }

  constexpr void join() noexcept {}
};

constexpr void run_begins() noexcept {}
constexpr void run_ends() noexcept {}

template <class T>
using unseen = T;

struct [[maybe_unused]] unobserved {
  constexpr unobserved() noexcept {}
};

struct strand_number {};
constexpr strand_number strand_here() noexcept { return {}; }
constexpr bool runs_beside(strand_number) noexcept { return false; }

}}}  // namespace fj::v0_4::detail

#endif

namespace fj { inline namespace v0_4 { namespace detail {

/// How many elements an algorithm leaves to one strand: `usual`, or `least` to show all forks that there could be.
constexpr std::size_t elements_a_strand(std::size_t usual, std::size_t least) noexcept {
  return sees_all_forks ? least : usual;
}

/// For how many P an algorithm cuts: for those that there are, or for a few if an observer wants to see what these
/// would do.
constexpr unsigned procs_to_cut_for(unsigned procs) noexcept { return is_observed && !sees_all_forks ? 8 : procs; }

}}}  // namespace fj::v0_4::detail
