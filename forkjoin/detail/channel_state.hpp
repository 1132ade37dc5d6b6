// A channel: values that one strand or thread sends and another receives.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/select.hpp"
#include "forkjoin/abi/wait_queue.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Source of the protocol: Go's runtime/chan.go. A value goes straight from a sender to a receiver that waits. It is
/// moved into the receiver's frame by the thread that has claimed that receiver, so never while the receiver runs.
/// Moves of T do not throw.
template <class T>
class channel_state {
 public:
  using attempt = channel_attempt;

  explicit channel_state(std::size_t capacity)
      : capacity_(capacity), ring_(capacity ? std::make_unique<slot[]>(capacity) : nullptr) {}
  channel_state(const channel_state&) = delete;
  channel_state& operator=(const channel_state&) = delete;
  ~channel_state() {
    while (count_ > 0) static_cast<void>(pop());
  }

  /// Waits until the value is received or has room. `refused`: the channel is closed, and the value as it was. Throws
  /// std::bad_alloc.
  wait_end send(T& value, const wait_limits& limits) {
    std::unique_lock held(mutex_);
    const attempt sent = put(value);
    if (end_attempt(sent, held)) return sent.closed ? wait_end::refused : wait_end::served;
    return wait_in(senders_, held, std::addressof(value), limits);
  }

  /// Waits for a value. `into` stays empty if the channel is closed and drained, or a limit ended the wait. Throws
  /// std::bad_alloc.
  wait_end receive(std::optional<T>& into, const wait_limits& limits) {
    std::unique_lock held(mutex_);
    if (end_attempt(take(into), held)) return wait_end::served;
    return wait_in(receivers_, held, std::addressof(into), limits);
  }

  // Without a wait.

  attempt try_send(T& value) {
    std::unique_lock held(mutex_);
    const attempt sent = put(value);
    end_attempt(sent, held);
    return sent;
  }

  attempt try_receive(std::optional<T>& into) {
    std::unique_lock held(mutex_);
    const attempt received = take(into);
    end_attempt(received, held);
    return received;
  }

  /// False if the channel is closed already.
  [[nodiscard]] bool close() {
    claimed_waits woken;
    {
      const std::unique_lock held(mutex_);
      if (closed_) return false;
      closed_ = true;
      // Either there are senders or there are receivers.
      for (wait_queue* const queue : {&receivers_, &senders_}) {
        while (wait_entry* const e = queue->claim_first()) {
          e->refused = true;
          woken.add(*e);
        }
      }
    }
    woken.wake_all();
    return true;
  }

  std::size_t count() {
    const std::unique_lock held(mutex_);
    return count_;
  }
  std::size_t capacity() const noexcept { return capacity_; }

  // Cases of a select.

  void make_send(select_case& c, T& value) noexcept {
    make(c, senders_, std::addressof(value));
    c.attempt = [](select_case& self) noexcept { return of(self).put(*static_cast<T*>(self.item)); };
  }

  void make_receive(select_case& c, std::optional<T>& into) noexcept {
    make(c, receivers_, std::addressof(into));
    c.attempt = [](select_case& self) noexcept { return of(self).take(*static_cast<std::optional<T>*>(self.item)); };
  }

 private:
  union slot {
    slot() noexcept {}
    ~slot() {}
    T value;
  };

  static channel_state& of(select_case& c) noexcept { return *static_cast<channel_state*>(c.state); }

  void make(select_case& c, wait_queue& queue, void* item) noexcept {
    c.lock = &mutex_;
    c.queue = &queue;
    c.item = item;
    c.state = this;
  }

  // Frees the lock and wakes if the attempt is done.
  static bool end_attempt(const attempt& made, std::unique_lock<os::mutex>& held) noexcept {
    if (!made.done) return false;
    held.unlock();
    if (made.wake) made.wake->of.wake();
    return true;
  }

  // Under the lock.

  attempt put(T& value) noexcept {
    if (closed_) return {.done = true, .closed = true};
    if (wait_entry* const receiver = receivers_.claim_first()) {
      static_cast<std::optional<T>*>(receiver->item)->emplace(std::move(value));
      return {.done = true, .wake = receiver};
    }
    if (count_ == capacity_) return {};
    push(value);
    return {.done = true};
  }

  attempt take(std::optional<T>& into) noexcept {
    if (count_ > 0) {
      into.emplace(pop());
      wait_entry* const sender = senders_.claim_first();
      if (sender) push(*static_cast<T*>(sender->item));
      return {.done = true, .wake = sender};
    }
    if (wait_entry* const sender = senders_.claim_first()) {
      into.emplace(std::move(*static_cast<T*>(sender->item)));
      return {.done = true, .wake = sender};
    }
    return {.done = closed_, .closed = closed_};
  }

  void push(T& value) noexcept {
    const std::size_t at = first_ + count_;
    std::construct_at(std::addressof(ring_[at < capacity_ ? at : at - capacity_].value), std::move(value));
    ++count_;
  }

  T pop() noexcept {
    T& value = ring_[first_].value;
    T taken = std::move(value);
    std::destroy_at(std::addressof(value));
    first_ = first_ + 1 < capacity_ ? first_ + 1 : 0;
    --count_;
    return taken;
  }

  os::mutex mutex_;
  bool closed_ = false;
  const std::size_t capacity_;
  const std::unique_ptr<slot[]> ring_;
  std::size_t first_ = 0, count_ = 0;
  wait_queue receivers_, senders_;
};

}}}  // namespace fj::v0_4::detail
