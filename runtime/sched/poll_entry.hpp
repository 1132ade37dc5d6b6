// What the poller knows of one descriptor: the waits that end when something happens to it, and the operations under
// way.
//
// The kernel reports edges: an edge says that something has happened, not what is still there. So an operation reads
// the count of edges before it tries, and waits only if no edge has come since. With any number of operations at once,
// none misses the edge that it needs:
//
//   strand                                             worker that polls
//   1. count = edges(way)                              a. the kernel has got data, and reports an edge
//   2. tries; there is nothing                         b. happened: ++edges, takes all waits out of the queue
//   3. begin_wait: queues itself if edges is still
//      count, else goes back to 1
//
// b and 3 hold the mutex. If 3 is first, b finds the wait. If b is first, either 3 sees another count, or 1 has seen
// the edge of b; then 2 came after the data of a. One edge wakes all waits of its direction, because the first strand
// that tries may leave data for which no other edge comes.
//
// An entry is never freed, because another worker may have got an event for it from the kernel and not delivered it
// yet. Each use of an entry for a descriptor is a life of the entry, with a number. Each event carries this number, so
// the entry ignores an event of an earlier life. Sources: eventcounts: Reed and Kanodia, "Synchronization with
// eventcounts and sequencers", 1979. Entries with a number for each life, and a close that waits for the operations
// under way: pollDesc and fdMutex of Go's runtime and internal/poll.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/descriptor.hpp"
#include "forkjoin/abi/list.hpp"
#include "forkjoin/abi/os/thread_safety.hpp"
#include "runtime/fork/runnable.hpp"
#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// What ended a wait for a descriptor, if no limit did.
enum class poll_end : unsigned { happened, closed };

/// Lies in the frame of what waits. Of several that would end that wait (forkjoin/abi/waiter.hpp) the entry is one.
class poll_wait {
 public:
  explicit poll_wait(io_way which) noexcept : way(which) {}
  poll_wait(const poll_wait&) = delete;
  poll_wait& operator=(const poll_wait&) = delete;

  /// Whether the caller is the first to end the wait: then wake is called, as the last that touches this object. Under
  /// the entry's mutex.
  virtual bool claim_wait(poll_end by) noexcept = 0;
  /// Without that mutex. `its`: the precedence of the waiter.
  virtual void wake(precedence its) noexcept = 0;

  const io_way way;
  bool queued = false;  ///< under the entry's mutex
  list_links<poll_wait> links;

 protected:
  ~poll_wait() = default;
};

/// Waits that their holder has claimed, and wakes.
class claimed_polls {
 public:
  bool any() const noexcept { return !waits_.empty(); }
  void add(poll_wait& w) noexcept { waits_.push(w); }
  void wake_all(precedence its) noexcept {
    while (poll_wait* const w = waits_.first()) {
      waits_.remove(*w);
      w->wake(its);
    }
  }

 private:
  linked_list<poll_wait, &poll_wait::links> waits_;
};

class alignas(cache_line) poll_entry {
 public:
  /// The number of a life: as many bits as go with an event.
  using life = std::uint16_t;

  enum class begun { waits, must_try, closed };
  enum class left { nothing, must_release, must_recycle };

  // Operations.

  /// Begins one, during which the number of the descriptor stays its own. False if it is closed.
  [[nodiscard]] bool enter() noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    if (closed_) return false;
    ++users_;
    return true;
  }

  /// Ends one. must_release: the caller is the last of a closed descriptor; it gives the number back, then calls leave
  /// again. must_recycle: the handle is gone, too.
  [[nodiscard]] left leave() noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    if (users_ == 1 && closed_ && !released_) {
      released_ = true;
      return left::must_release;
    }
    return --users_ == 0 && !held_ ? left::must_recycle : left::nothing;
  }

  /// How many edges there were. acquire: pairs with the release in happened, so that a try sees what came before the
  /// edge.
  std::uint32_t edges(io_way way) const noexcept { return side(way).edges.load(std::memory_order_acquire); }

  /// After a try that found nothing, `seen` being the count before it. If it waits, end_wait follows.
  [[nodiscard]] begun begin_wait(poll_wait& w, std::uint32_t seen) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    if (closed_) return begun::closed;
    if (edges(w.way) != seen) return begun::must_try;
    side(w.way).waits.push(w);
    w.queued = true;
    return begun::waits;
  }

  /// The same for a wait that then asks the kernel what is there, as poll(2) does: whatever edge came before, the
  /// kernel tells it of what that edge brought, so it compares no counts. False if the descriptor is closed.
  [[nodiscard]] bool begin_wait(poll_wait& w) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    if (closed_) return false;
    side(w.way).waits.push(w);
    w.queued = true;
    return true;
  }

  /// By what has waited. Nothing here refers to the wait afterwards.
  void end_wait(poll_wait& w) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    if (w.queued) take_out(w);
  }

  // The poller.

  /// An event of that life. The caller wakes what it claims here.
  void happened(life of, bool readable, bool writable, claimed_polls& woken) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    if (of != life_) return;
    if (readable) end_all(io_way::reading, poll_end::happened, woken);
    if (writable) end_all(io_way::writing, poll_end::happened, woken);
  }

  // The owner.

  /// A new life, which has a handle, and its number.
  life open() noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    closed_ = released_ = false;
    held_ = true;
    return life_;
  }

  /// No operation begins from now on, and all waits end. The caller is in an operation if it is the first to close.
  [[nodiscard]] bool close(claimed_polls& woken) noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    if (closed_) return false;
    closed_ = true;
    ++life_;
    ++users_;
    end_all(io_way::reading, poll_end::closed, woken);
    end_all(io_way::writing, poll_end::closed, woken);
    return true;
  }

  /// The handle of a closed descriptor goes. The caller is in an operation.
  void drop_handle() noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    held_ = false;
    ++users_;
  }

  bool is_closed() const noexcept FORKJOIN_EXCLUDES(mutex_) {
    const locked lock(mutex_);
    return closed_;
  }

 private:
  struct one_way {
    os::atomic<std::uint32_t> edges{0};  // written under the mutex
    linked_list<poll_wait, &poll_wait::links> waits;
  };

  one_way& side(io_way way) noexcept { return sides_[static_cast<unsigned>(way)]; }
  const one_way& side(io_way way) const noexcept { return sides_[static_cast<unsigned>(way)]; }

  void take_out(poll_wait& w) noexcept FORKJOIN_REQUIRES(mutex_) {
    side(w.way).waits.remove(w);
    w.queued = false;
  }

  void end_all(io_way way, poll_end by, claimed_polls& woken) noexcept FORKJOIN_REQUIRES(mutex_) {
    one_way& s = side(way);
    // release: pairs with the acquire in edges
    s.edges.store(s.edges.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    while (poll_wait* const w = s.waits.first()) {
      take_out(*w);
      if (w->claim_wait(by)) woken.add(*w);
    }
  }

  mutable os::mutex mutex_;
  life life_ = 1;
  bool closed_ = true, released_ = true, held_ = false;
  std::uint32_t users_ = 0;
  one_way sides_[2];
};

}}}  // namespace fj::v0_4::detail
