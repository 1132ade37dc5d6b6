// The records of forks, and the words of a deque that push and pop touch. Programs compile both into every fork.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "forkjoin/abi/atomic.hpp"
#include "forkjoin/abi/cache_line.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class deque;

/// How a record is named in the list: its address; 0 is none. Bit 0 marks the name of a stand_in. In what a record
/// keeps, the highest bit marks that record as public. (Addresses of user code have it clear.)
using record_name = std::uintptr_t;

/// What a deque holds. It lies in the frame that forked, and nothing is stored there until it is pushed.
struct record {
  os::unset_atomic<record_name> older;  ///< first: forkjoin/abi/os/fork_path.hpp stores it
};

/// What is pushed for a record that lies where the owner must not look once it has been stolen.
struct record_stand_in : record {
  record* stands_for;
};

/// The begin of a deque: what programs see of it. runtime/fork/deque_owner.hpp describes the whole.
class deque_face {
 public:
  static record_name name_of(const record& r) noexcept { return reinterpret_cast<record_name>(&r); }
  static record_name name_of(const record_stand_in& r) noexcept {
    return reinterpret_cast<record_name>(&r) + stands_in;  // one instruction; an `or` would take two
  }

  // The fast path, for the owner. forkjoin/abi/os/fork_path.hpp has it in assembly.

  /// Adds a record, by its name, at the tail. True if the owner must attend to something: then it calls attend and what
  /// follows from it. The record is stored before the request is read; the other way round a wake-up would be lost.
  [[nodiscard]] bool push(record& r, record_name name) noexcept {
    r.older.store(newest_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    // release: pairs with the acquires in runtime/fork/sharing.hpp: forced_sharing::end, and in
    // deque_thief::looks_empty, so that the record is there
    newest_.store(name, std::memory_order_release);
    // Store newest, load request: pairs with the heavy fence in runtime/sched/parking.hpp: nothing_left.
    os::light_fence();
    return request_.load(std::memory_order_relaxed) != no_request;
  }

  /// Takes back the newest record. False if it may not be private: then pop_slow decides.
  [[nodiscard]] bool pop(const record& r) noexcept {
    // release: as in push, so that a thief which reads this name finds the older records, too
    newest_.store(r.older.load(std::memory_order_relaxed), std::memory_order_release);
    // Store newest, load guard: pairs with the heavy fence in runtime/sched/find.hpp: force.
    os::light_fence();
    // acquire: pairs with the releases in forced_sharing::end and give_up. An owner that finds the guard down again
    // finds the mark, too: so the link is read once more, after the guard.
    const record_name guard = guard_.load(std::memory_order_acquire);
    return r.older.load(std::memory_order_relaxed) < guard;
  }

  /// Of the record that the owner pushed last and has not popped; 0 as well if a thief has it.
  record_name newest() const noexcept { return newest_.load(std::memory_order_relaxed); }

  /// Whether there is something that a thief can take only if it forces it first; a hint.
  bool has_private() const noexcept {
    return newest_.load(std::memory_order_relaxed) != newest_public_.load(std::memory_order_relaxed);
  }

  /// Whether the owner may go on for a few microseconds without a push: no worker asks for what it has.
  bool asks_nothing() const noexcept {
    const std::uint64_t request = request_.load(std::memory_order_relaxed);
    return request == no_request || (request == watched_request && !has_private());
  }

 protected:
  constexpr explicit deque_face(bool eager) noexcept
      : newest_(0), request_(open_request), guard_(eager ? guard_up : guard_down), newest_public_(0) {}

  static constexpr std::uint64_t no_request = 0, open_request = 1, watched_request = 2;

  static constexpr record_name stands_in = 1;
  static constexpr record_name public_mark = ~(~record_name{0} >> 1);
  // A pop passes if its link is below the guard.
  static constexpr record_name guard_down = public_mark;  // links without the mark
  static constexpr record_name guard_up = 0;              // none

  // Written by the owner at every fork, except that thieves send requests and raise the guard.
  alignas(cache_line) os::atomic<record_name> newest_;
  os::atomic<std::uint64_t> request_;
  os::atomic<record_name> guard_;
  os::atomic<record_name> newest_public_;

#ifndef FORKJOIN_MACHINE  // an atomic of the model's is larger
 private:
  // What forkjoin/abi/os/fork_path.hpp relies on.
  static consteval bool laid_out_for_assembly() {
    return offsetof(deque_face, newest_) == 0 && offsetof(deque_face, request_) == 8 &&
           offsetof(deque_face, guard_) == 16 && sizeof(record) == 8;
  }
  friend struct face_check;
#endif
};

#ifndef FORKJOIN_MACHINE
struct face_check {
  static_assert(deque_face::laid_out_for_assembly());
};
#endif

/// What programs see of a deque lies at its begin: runtime/faces.cpp asserts it.
[[gnu::always_inline]] inline deque_face& face_of(deque& d) noexcept { return reinterpret_cast<deque_face&>(d); }

}}}  // namespace fj::v0_4::detail
