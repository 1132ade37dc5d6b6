// Fibers of a simulation: a stack of frames, each a call of a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "bench/simulate/machine.hpp"

#include "bench/simulate/kernel.hpp"
#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/continuation.hpp"
#include "forkjoin/abi/counting_join.hpp"
#include "forkjoin/loops/sections.hpp"
#include "runtime/fork/deque.hpp"
#include "runtime/fork/runnable.hpp"

namespace simulate {

using fj::detail::continuation;
using fj::detail::counting_join;
using fj::detail::deque;
using fj::detail::deque_thief;
using fj::detail::join_waiter;
using fj::detail::outcome;
using fj::detail::sections;
using fj::detail::stolen_record;

/// Who called a frame: what its end leads to.
enum class caller : std::uint8_t {
  plain,   ///< a call
  first,   ///< a fork, as the side that runs at once: the policy's order says which, in a loop the left one
  second,  ///< a fork, as the side that no thief has stolen
  thief,   ///< a thief, on a stack of its own
  on_top,  ///< a strand that waits, on top of its stack
  outside  ///< run
};

/// What a frame does next, once the clock is there.
enum class stage : std::uint8_t {
  next,       ///< the next step of its node
  call,       ///< the call of `other`, after the work before it
  push,       ///< puts up `other` and goes on with the side that runs at once
  push_slow,  ///< the same after attending to a request
  pop,        ///< takes `other` back
  pop_slow,   ///< the same where it may be public
  join,       ///< `other` was stolen
  leave,      ///< leaves its stack, unless `other` has been finished
  end,        ///< returns
  arrive      ///< the end of what was stolen, at its join
};

/// A frame holds at most one record at a time, and is that record. It has cache lines of its own, so that no result
/// depends on where the system puts it.
///
/// A loop of forks is a frame for each rest (kernel.hpp). The first frame whose rest was stolen is the loop's *home*:
/// there the strand waits for all stolen iterations (runtime/strand/loop_protocol.hpp). A thief whose own rest was
/// stolen arrives there for the iterations that it ran, and ends.
///
/// The upper forks of a loop of parts, `levels` from here on, stand for no parts. What comes below is the section that
/// the P claims (forkjoin/loops/forked_sections.hpp) from the frame of the first of these forks, `loop`.
struct alignas(fj::detail::cache_line) frame : continuation {
  static constexpr unsigned no_proc = ~0u;

  frame() noexcept : continuation(&nothing) {}

  node self;
  node other;        // what is called, or the record
  node first;        // the side of a fork that runs at once
  loop_parts parts;  // of a loop, if the sides are such
  unsigned phase = 0;
  caller by = caller::plain;
  stage now = stage::next;
  bool waited = false;  // counted as a join that waits
  unsigned thiefs_proc = no_proc;
  unsigned owners_proc = 0;      // where it was pushed last
  picoseconds arrived = 0;       // the last branch that was stolen from it
  frame* stolen = nullptr;       // by == thief or on_top: where it arrives, the record that it runs, or its loop's home
  std::uint32_t answers = 0;     // by == thief, of a rest: for so many iterations
  std::uint32_t iterations = 0;  // of `other`, if that is a rest and the policy has such loops; else 0
  frame* home = nullptr;         // of the loop whose rest this is, on a thief's stack
  counting_join all;             // a home's: of the stolen iterations
  join_waiter* waits = nullptr;  // a home's
  unsigned levels = 0;
  frame* loop = nullptr;           // where levels is not 0
  unsigned count = 0;              // of a loop's sections
  std::optional<sections> claims;  // likewise

  /// Joins are told by the word (forkjoin/abi/join.hpp), which needs some function to hold; it is never called.
  [[gnu::aligned(16)]] static outcome nothing(continuation&) noexcept { return outcome::returned; }
};

}  // namespace simulate

namespace fj { inline namespace v0_4 { namespace detail {

struct worker;

/// What one simulation works for.
struct job : runnable {
  job() noexcept : runnable(kind::job) {}
  bool urgent = false;
  job_runnables ready;
  worker* caller = nullptr;
  os::atomic<bool> done{false};
};

/// Frames stay where they are: thieves hold pointers to them.
struct fiber : join_waiter, runnable {
  fiber() noexcept : runnable(kind::fiber) {}

  simulate::frame& top() noexcept { return *top_; }
  std::size_t depth() const noexcept { return depth_; }

  simulate::frame& enter(const simulate::node& self, simulate::caller by) {
    if (depth_ == blocks_.size() * block) blocks_.push_back(std::make_unique<simulate::frame[]>(block));
    top_ = &at(depth_++);
    top_->self = self;
    top_->phase = 0;
    top_->by = by;
    top_->now = simulate::stage::next;
    top_->answers = 0;
    top_->home = nullptr;
    top_->levels = 0;
    return *top_;
  }

  void leave() noexcept {
    --depth_;
    top_ = depth_ > 0 ? &at(depth_ - 1) : nullptr;
  }

  deque::index forks = 0;              ///< it is in
  simulate::picoseconds to_go_on = 0;  ///< what it costs a worker to switch to it
  bool follows = false;                ///< its resumer has just ended what comes before it in the order of one P
  job* whose = nullptr;
  bool urgent = false;
  relaxed<std::uint64_t> had = 0;  ///< no simulated strand is cut

  // A simulated strand waits at joins only, and its deque is empty then; so there is never a marker in the ready queue.
  deque* records = nullptr;
  runnable marker{kind::marker};
  static fiber& of_marker(runnable&) noexcept { std::abort(); }

 private:
  static constexpr std::size_t block = 64;

  simulate::frame& at(std::size_t index) noexcept { return blocks_[index / block][index % block]; }

  std::vector<std::unique_ptr<simulate::frame[]>> blocks_;
  simulate::frame* top_ = nullptr;
  std::size_t depth_ = 0;
};

}}}  // namespace fj::v0_4::detail

namespace simulate {

using fj::detail::fiber;
using fj::detail::job;

}  // namespace simulate
