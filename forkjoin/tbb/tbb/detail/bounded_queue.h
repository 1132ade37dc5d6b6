// tbb::concurrent_bounded_queue: not oneTBB's, which keeps its thread while it waits, but a queue whose push and pop
// wait as all waits of the library do: other strands go on meanwhile, also on a single P.
#pragma once

#include "../cache_aligned_allocator.h"
#include "onetbb.h"

#include <forkjoin/go/condition_variable.hpp>
#include <forkjoin/go/mutex.hpp>

#include <cstddef>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

namespace tbb {

/// push, pop, try_push, try_pop, emplace, try_emplace, abort, size, empty, capacity and set_capacity may be called at
/// the same time, inside of a runtime and outside. Cost: an fj::mutex each.
template <class T, class Allocator = cache_aligned_allocator<T>>
class concurrent_bounded_queue {
  using items = std::deque<T, typename std::allocator_traits<Allocator>::template rebind_alloc<T>>;

 public:
  using size_type = std::ptrdiff_t;
  using difference_type = std::ptrdiff_t;
  using value_type = T;
  using reference = T&;
  using const_reference = const T&;
  using allocator_type = Allocator;
  using pointer = typename std::allocator_traits<Allocator>::pointer;
  using const_pointer = typename std::allocator_traits<Allocator>::const_pointer;
  using iterator = typename items::iterator;
  using const_iterator = typename items::const_iterator;

  concurrent_bounded_queue() = default;
  explicit concurrent_bounded_queue(const Allocator& allocator) : items_(allocator) {}
  /// As there, of any type with `*`, `++` and `!=`.
  template <class Iterator>
  concurrent_bounded_queue(Iterator first, Iterator last, const Allocator& allocator = Allocator())
      : items_(allocator) {
    append(first, last);
  }
  concurrent_bounded_queue(std::initializer_list<T> all, const Allocator& allocator = Allocator())
      : items_(all, allocator) {}

  // As there, a copy has no bound.
  concurrent_bounded_queue(const concurrent_bounded_queue& other) : items_(other.items_) {}
  concurrent_bounded_queue(const concurrent_bounded_queue& other, const Allocator& allocator)
      : items_(other.items_, allocator) {}
  concurrent_bounded_queue(concurrent_bounded_queue&& other) : items_(std::move(other.items_)) { other.items_.clear(); }
  concurrent_bounded_queue(concurrent_bounded_queue&& other, const Allocator& allocator)
      : items_(std::move(other.items_), allocator) {
    other.items_.clear();
  }
  concurrent_bounded_queue& operator=(const concurrent_bounded_queue& other) {
    items_ = other.items_;
    capacity_ = other.capacity_;
    return *this;
  }
  concurrent_bounded_queue& operator=(concurrent_bounded_queue&& other) {
    if (this == &other) return *this;
    items_ = std::move(other.items_);
    capacity_ = other.capacity_;
    other.items_.clear();
    return *this;
  }
  concurrent_bounded_queue& operator=(std::initializer_list<T> all) {
    items_ = all;
    return *this;
  }
  template <class Iterator>
  void assign(Iterator first, Iterator last) {
    items_.clear();
    append(first, last);
  }
  void assign(std::initializer_list<T> all) { items_ = all; }
  void swap(concurrent_bounded_queue& other) {
    items_.swap(other.items_);
    std::swap(capacity_, other.capacity_);
  }
  friend void swap(concurrent_bounded_queue& a, concurrent_bounded_queue& b) { a.swap(b); }

  /// Waits until there is room. Throws user_abort if abort is called meanwhile.
  void push(const T& value) { emplace(value); }
  void push(T&& value) { emplace(std::move(value)); }
  template <class... Arguments>
  void emplace(Arguments&&... arguments) {
    std::unique_lock held(mutex_);
    wait(held, room_, pushing_, [this] { return !is_full(); });
    add(std::forward<Arguments>(arguments)...);
  }

  /// False if there is no room.
  bool try_push(const T& value) { return try_emplace(value); }
  bool try_push(T&& value) { return try_emplace(std::move(value)); }
  template <class... Arguments>
  bool try_emplace(Arguments&&... arguments) {
    const std::scoped_lock held(mutex_);
    if (is_full()) return false;
    add(std::forward<Arguments>(arguments)...);
    return true;
  }

  /// Waits until there is an item. Throws user_abort if abort is called meanwhile.
  void pop(T& result) {
    std::unique_lock held(mutex_);
    wait(held, come_, popping_, [this] { return !items_.empty(); });
    take(result);
  }
  /// False if there is none.
  bool try_pop(T& result) {
    const std::scoped_lock held(mutex_);
    if (items_.empty()) return false;
    take(result);
    return true;
  }

  /// The calls of push and pop that wait throw user_abort.
  void abort() {
    const std::scoped_lock held(mutex_);
    ++aborts_;
    room_.notify_all();
    come_.notify_all();
  }

  /// Items, and calls of push that wait, less calls of pop that wait.
  size_type size() const {
    const std::scoped_lock held(mutex_);
    return static_cast<size_type>(items_.size()) + pushing_ - popping_;
  }
  [[nodiscard]] bool empty() const { return size() <= 0; }

  size_type capacity() const {
    const std::scoped_lock held(mutex_);
    return capacity_;
  }
  /// Less than 0: as many as there is memory for.
  void set_capacity(size_type capacity) {
    const std::scoped_lock held(mutex_);
    capacity_ = capacity < 0 ? unlimited : capacity;
    room_.notify_all();
  }

  Allocator get_allocator() const { return items_.get_allocator(); }

  // Not while other calls run.
  void clear() {
    items_.clear();
    room_.notify_all();
  }
  iterator unsafe_begin() { return items_.begin(); }
  iterator unsafe_end() { return items_.end(); }
  const_iterator unsafe_begin() const { return items_.begin(); }
  const_iterator unsafe_end() const { return items_.end(); }
  const_iterator unsafe_cbegin() const { return items_.begin(); }
  const_iterator unsafe_cend() const { return items_.end(); }
  friend bool operator==(const concurrent_bounded_queue& a, const concurrent_bounded_queue& b) {
    return a.items_ == b.items_;
  }

 private:
  static constexpr size_type unlimited = std::numeric_limits<size_type>::max();

  template <class Iterator>
  void append(Iterator first, Iterator last) {
    for (; first != last; ++first) items_.push_back(*first);
  }
  bool is_full() const { return static_cast<size_type>(items_.size()) >= capacity_; }

  /// Counts the caller in `waiting` while it waits.
  template <class Condition>
  void wait(std::unique_lock<fj::mutex>& held, fj::condition_variable& on, size_type& waiting, Condition condition) {
    if (condition()) return;
    struct counted {
      explicit counted(size_type& n) : count(n) { ++count; }
      ~counted() { --count; }
      size_type& count;
    };
    const counted here(waiting);
    for (const unsigned before = aborts_; !condition();) {
      on.wait(held);
      if (aborts_ != before) fj_detail::throw_error(user_abort());
    }
  }
  template <class... Arguments>
  void add(Arguments&&... arguments) {
    try {
      items_.emplace_back(std::forward<Arguments>(arguments)...);
    } catch (...) {
      room_.notify_one();  // the room is another call's
      throw;
    }
    come_.notify_one();
  }
  void take(T& result) {
    struct popped {
      ~popped() {
        from.items_.pop_front();
        from.room_.notify_one();
      }
      concurrent_bounded_queue& from;
    };
    const popped after{*this};  // also if the assignment throws, as in oneTBB
    result = std::move(items_.front());
  }

  items items_;
  size_type capacity_ =
      static_cast<size_type>(std::numeric_limits<std::size_t>::max() / (sizeof(T) > 1 ? sizeof(T) : 2));
  size_type pushing_ = 0, popping_ = 0;
  unsigned aborts_ = 0;
  mutable fj::mutex mutex_;
  fj::condition_variable room_, come_;
};

template <std::input_iterator Iterator, class Allocator = cache_aligned_allocator<std::iter_value_t<Iterator>>>
concurrent_bounded_queue(Iterator, Iterator, Allocator = Allocator())
    -> concurrent_bounded_queue<std::iter_value_t<Iterator>, Allocator>;

}  // namespace tbb
