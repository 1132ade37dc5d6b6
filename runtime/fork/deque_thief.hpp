// A deque as other workers see it: they look, send requests to its owner, and steal. They cannot push, pop or share;
// that is the owner's part (deque_owner.hpp, where the deque is described).
#pragma once

#include <cstdint>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/progress.hpp"
#include "forkjoin/abi/record.hpp"
#include "runtime/fork/public_array.hpp"
#include "runtime/os/machine.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace os {
struct exception_globals;
}

class deque_thief : protected deque_face {
 public:
  using index = public_array::index;
  using slot = public_array::slot;

  deque_thief(const deque_thief&) = delete;
  deque_thief& operator=(const deque_thief&) = delete;

  /// Asks the owner to attend at its next push. The caller sets what it wishes first; the owner reads wishes after it
  /// cleared the request.
  void request() noexcept {
    // release: pairs with the acquire in deque_owner.hpp: attend. An exchange, as all stores to the request, so that
    // they are in one order.
    request_.exchange(open_request, std::memory_order_acq_rel);
  }

  /// Whether a request waits for the owner already; a hint.
  bool requested() const noexcept { return request_.load(std::memory_order_relaxed) != no_request; }

  /// By a worker that counts as spinning, looks here again, and may take what it finds: the owner of small loops need
  /// not attend to a request (deque::is_watched). The next request, also that of a worker about to park, takes
  /// this back.
  void watch() noexcept {
    if (eager_ || !has_capacity()) return;  // there each push attends
    std::uint64_t on = open_request;
    if (request_.load(std::memory_order_relaxed) != on) return;
    // relaxed: the acquire in attend pairs with the request that was sent before, whose release sequence this
    // continues
    request_.compare_exchange_strong(on, watched_request, std::memory_order_relaxed);
  }

  /// The oldest public record; none if there is none or another thief was faster. Of job `only` alone, unless that is
  /// nullptr.
  stolen_record steal(const job* only) noexcept { return public_.steal(only); }

  /// How many records are public; a hint.
  index public_count() const noexcept { return public_.count(); }
  bool has_public() const noexcept { return public_count() > 0; }

  /// Calls visit(record) for each public record, the oldest first. Only while none comes or goes.
  template <class Visit>
  void for_each_public(Visit visit) {
    public_.for_each(visit);
  }

  using deque_face::has_private;

  /// Whether there is nothing in it, private records included. Exact for pushes before a fence that the caller made.
  bool looks_empty() const noexcept {
    // acquire: pairs with the release in sharing.hpp: move: a worker that sees a record as public sees the end
    // beyond it
    const record_name newest_public = newest_public_.load(std::memory_order_acquire);
    // acquire: pairs with the release in forkjoin/abi/record.hpp: push, and with those of all later stores of newest
    if (newest_.load(std::memory_order_acquire) != newest_public) return false;
    return !has_public();
  }

  /// How far the owner has come with its loops.
  loop_progress& progress() noexcept { return progress_; }

  /// Whose records it holds; a hint.
  job* whose() const noexcept { return public_.whose(); }

 protected:
  constexpr deque_thief(index capacity, bool eager) noexcept
      : deque_face(eager), exceptions_(nullptr), eager_(eager), public_(capacity) {}

  static bool is_marked(const record& r) noexcept { return r.older.load(std::memory_order_relaxed) & public_mark; }

  static record* pushed_as(record_name name) noexcept { return reinterpret_cast<record*>(name & ~stands_in); }
  static record* meant_by(record_name name) noexcept {
    record* const pushed = pushed_as(name);
    return name & stands_in ? static_cast<record_stand_in*>(pushed)->stands_for : pushed;
  }

  bool has_capacity() const noexcept { return public_.capacity() != 0; }

  friend struct forced_sharing;
  friend struct handled_at_forks;
  friend struct sharing;

  // In the line of the words that programs see.
  os::atomic<os::exception_globals*> exceptions_;  // of the thread that the owner runs on
  os::mutex mutex_;
  const bool eager_;
  loop_progress progress_;

  public_array public_;  // last: its slots follow
};

}}}  // namespace fj::v0_4::detail
