// A value for each thread that asks for one. A strand may continue on another thread after a fork or a wait: ask again
// after it, as oneTBB's programs do at the begin of each body. Where strands fork while they use a value,
// fj::combinable is safe.
#pragma once

#include "blocked_range.h"
#include "cache_aligned_allocator.h"
#include "detail/flattened2d.h"
#include "detail/left_out.h"
#include "detail/thread_table.h"

#include <compare>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tbb {

/// How a thread's value is found: all the same here.
enum ets_key_usage_type { ets_key_per_instance, ets_no_key, ets_suspend_aware };

template <class T, class Allocator = cache_aligned_allocator<T>, ets_key_usage_type Key = ets_no_key>
class enumerable_thread_specific;

namespace fj_detail {

template <class T>
inline constexpr bool is_thread_specific = false;
template <class T, class Allocator, ets_key_usage_type Key>
inline constexpr bool is_thread_specific<enumerable_thread_specific<T, Allocator, Key>> = true;

/// Stays valid when a thread adds its value.
template <class Values, class Value>
class thread_specific_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;  // const, too, as oneTBB's
  using difference_type = std::ptrdiff_t;
  using reference = Value&;
  using pointer = Value*;

  thread_specific_iterator() = default;
  thread_specific_iterator(Values& of, std::size_t at) : of_(&of), at_(at) {}
  template <class OtherValues, class OtherValue>
    requires std::is_convertible_v<OtherValue*, Value*>
  thread_specific_iterator(const thread_specific_iterator<OtherValues, OtherValue>& other)
      : of_(other.of_), at_(other.at_) {}

  reference operator*() const { return (*of_)[at_].made->value; }
  pointer operator->() const { return std::addressof(**this); }
  reference operator[](difference_type n) const { return *(*this + n); }
  thread_specific_iterator& operator++() { return *this += 1; }
  thread_specific_iterator operator++(int) { return std::exchange(*this, *this + 1); }
  thread_specific_iterator& operator--() { return *this += -1; }
  thread_specific_iterator operator--(int) { return std::exchange(*this, *this - 1); }
  thread_specific_iterator& operator+=(difference_type n) {
    at_ += static_cast<std::size_t>(n);
    return *this;
  }
  thread_specific_iterator& operator-=(difference_type n) { return *this += -n; }
  friend thread_specific_iterator operator+(thread_specific_iterator i, difference_type n) { return i += n; }
  friend thread_specific_iterator operator+(difference_type n, thread_specific_iterator i) { return i += n; }
  friend thread_specific_iterator operator-(thread_specific_iterator i, difference_type n) { return i -= n; }

  template <class Other>
  difference_type operator-(const thread_specific_iterator<Values, Other>& other) const {
    return static_cast<difference_type>(at_ - other.at_);
  }
  template <class OtherValues, class Other>
  bool operator==(const thread_specific_iterator<OtherValues, Other>& other) const {
    return of_ == other.of_ && at_ == other.at_;
  }
  template <class OtherValues, class Other>
  auto operator<=>(const thread_specific_iterator<OtherValues, Other>& other) const {
    return at_ <=> other.at_;
  }

 private:
  template <class, class>
  friend class thread_specific_iterator;

  Values* of_ = nullptr;
  std::size_t at_ = 0;
};

}  // namespace fj_detail

template <class T, class Allocator, ets_key_usage_type Key>
class enumerable_thread_specific {
  // Values of different threads are not neighbours.
  struct alignas(128) alignas(T) element {
    explicit element(const std::function<void(void*)>& make) { make(std::addressof(value)); }
    template <class From>
      requires std::is_constructible_v<T, From&&>
    element(std::in_place_t, From&& from) : value(std::forward<From>(from)) {}
    ~element() { value.~T(); }

    union {
      T value;
    };
  };
  struct entry {
    fj_detail::thread_key thread;
    element* made;
  };

  using elements = typename std::allocator_traits<Allocator>::template rebind_alloc<element>;
  using element_traits = std::allocator_traits<elements>;
  using entries = std::vector<entry, typename std::allocator_traits<Allocator>::template rebind_alloc<entry>>;

 public:
  using allocator_type = Allocator;
  using value_type = T;
  using reference = T&;
  using const_reference = const T&;
  using pointer = typename std::allocator_traits<Allocator>::pointer;
  using const_pointer = typename std::allocator_traits<Allocator>::const_pointer;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using iterator = fj_detail::thread_specific_iterator<const entries, T>;
  using const_iterator = fj_detail::thread_specific_iterator<const entries, const T>;

  template <class Iterator>
  class generic_range_type : public blocked_range<Iterator> {
   public:
    using value_type = T;
    using reference = T&;
    using const_reference = const T&;
    using iterator = Iterator;
    using difference_type = std::ptrdiff_t;

    generic_range_type(Iterator begin, Iterator end, std::size_t grainsize = 1)
        : blocked_range<Iterator>(begin, end, grainsize) {}
    template <class Other>
    generic_range_type(const generic_range_type<Other>& other)
        : blocked_range<Iterator>(other.begin(), other.end(), other.grainsize()) {}
    generic_range_type(generic_range_type& other, split by) : blocked_range<Iterator>(other, by) {}
  };
  using range_type = generic_range_type<iterator>;
  using const_range_type = generic_range_type<const_iterator>;

  /// A thread's value begins as T(), make(), a copy of the first one, or T(arguments). make may run on several threads
  /// at once.
  enumerable_thread_specific() : make_([](void* at) { ::new (at) T(); }) {}
  template <class Make>
    requires std::is_invocable_v<Make&> && (!fj_detail::is_thread_specific<std::remove_cvref_t<Make>>)
  explicit enumerable_thread_specific(Make make)
      : make_([make = std::move(make)](void* at) mutable { ::new (at) T(make()); }) {}
  explicit enumerable_thread_specific(const T& first) : make_([first](void* at) { ::new (at) T(first); }) {}
  explicit enumerable_thread_specific(T&& first)
      : make_([first = std::move(first)](void* at) { ::new (at) T(first); }) {}
  template <class First, class... More>
    requires(!std::is_invocable_v<std::decay_t<First>&> && !fj_detail::is_thread_specific<std::decay_t<First>> &&
             !std::is_same_v<std::decay_t<First>, T>)
  explicit enumerable_thread_specific(First&& first, More&&... more)
      : make_([arguments = std::tuple<std::decay_t<First>, std::decay_t<More>...>(
                   std::forward<First>(first), std::forward<More>(more)...)](void* at) {
          std::apply([at](const auto&... each) { ::new (at) T(each...); }, arguments);
        }) {}

  /// Copies the values, each for the same thread. New values begin as in the other object.
  enumerable_thread_specific(const enumerable_thread_specific& other) : make_(other.make_) { copy_values(other); }
  template <class OtherAllocator, ets_key_usage_type OtherKey>
  enumerable_thread_specific(const enumerable_thread_specific<T, OtherAllocator, OtherKey>& other)
      : make_(other.make_) {
    copy_values(other);
  }
  /// Takes over the values, or, of another type, moves them one by one. The other object then has none, and new ones
  /// begin as before.
  enumerable_thread_specific(enumerable_thread_specific&& other) : make_(other.make_) { swap_values(other); }
  template <class OtherAllocator, ets_key_usage_type OtherKey>
  enumerable_thread_specific(enumerable_thread_specific<T, OtherAllocator, OtherKey>&& other) : make_(other.make_) {
    copy_values(std::move(other));
    other.clear();
  }
  ~enumerable_thread_specific() { clear(); }

  enumerable_thread_specific& operator=(const enumerable_thread_specific& other) {
    if (this != &other) take(enumerable_thread_specific(other));
    return *this;
  }
  enumerable_thread_specific& operator=(enumerable_thread_specific&& other) {
    if (this != &other) take(enumerable_thread_specific(std::move(other)));
    return *this;
  }
  template <class OtherAllocator, ets_key_usage_type OtherKey>
  enumerable_thread_specific& operator=(const enumerable_thread_specific<T, OtherAllocator, OtherKey>& other) {
    take(enumerable_thread_specific(other));
    return *this;
  }
  template <class OtherAllocator, ets_key_usage_type OtherKey>
  enumerable_thread_specific& operator=(enumerable_thread_specific<T, OtherAllocator, OtherKey>&& other) {
    take(enumerable_thread_specific(std::move(other)));
    return *this;
  }

  /// The calling thread's value, made if it has none. local alone may run on several threads at once. Cost: a call and
  /// a look into a table.
  T& local() {
    if (void* const mine = threads_.find()) return static_cast<element*>(mine)->value;
    bool exists;
    return make_local(exists);
  }
  T& local(bool& exists) {
    exists = true;
    if (void* const mine = threads_.find()) return static_cast<element*>(mine)->value;
    return make_local(exists);
  }

  size_type size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  void clear() noexcept {
    threads_.clear();
    for (const entry& each : values_) destroy(each.made);
    values_.clear();
  }

  iterator begin() { return {values_, 0}; }
  iterator end() { return {values_, values_.size()}; }
  const_iterator begin() const { return {values_, 0}; }
  const_iterator end() const { return {values_, values_.size()}; }
  range_type range(size_type grainsize = 1) { return {begin(), end(), grainsize}; }
  const_range_type range(size_type grainsize = 1) const { return {begin(), end(), grainsize}; }

  /// Of no values: a new one.
  template <class Combine>
  T combine(Combine f) {
    if (values_.empty()) return element(make_).value;
    T all = *begin();
    for (auto at = std::as_const(*this).begin() + 1; at != end(); ++at) all = f(all, *at);
    return all;
  }
  template <class F>
  void combine_each(F f) {
    for (T& each : *this) f(each);
  }

 private:
  template <class, class, ets_key_usage_type>
  friend class enumerable_thread_specific;

  template <class... From>
  element* make(From&&... from) {
    elements memory;
    element* const made = element_traits::allocate(memory, 1);
    try {
      return ::new (static_cast<void*>(made)) element(std::forward<From>(from)...);
    } catch (...) {
      element_traits::deallocate(memory, made, 1);
      throw;
    }
  }
  static void destroy(element* made) noexcept {
    elements memory;
    made->~element();
    element_traits::deallocate(memory, made, 1);
  }
  void add(fj_detail::thread_key thread, element* made) {
    try {
      values_.push_back({thread, made});
    } catch (...) {
      destroy(made);
      throw;
    }
    try {
      threads_.insert(thread, made);
    } catch (...) {
      values_.pop_back();
      destroy(made);
      throw;
    }
  }

  // What begins the value may itself ask for the thread's, or continue on a thread that has one.
  [[gnu::noinline]] T& make_local(bool& exists) {
    element* const made = make(make_);
    const std::scoped_lock held(mutex_);
    void* const other = threads_.find();
    exists = other != nullptr;
    if (exists) {
      destroy(made);
      return static_cast<element*>(other)->value;
    }
    add(fj_detail::this_thread_key(), made);
    return made->value;
  }

  template <class Other>
  void copy_values(Other&& other) {
    try {
      for (const auto& each : other.values_) {
        if constexpr (std::is_lvalue_reference_v<Other>) {
          add(each.thread, make(std::in_place, std::as_const(each.made->value)));
        } else {
          add(each.thread, make(std::in_place, std::move(each.made->value)));
        }
      }
    } catch (...) {
      clear();
      throw;
    }
  }
  void swap_values(enumerable_thread_specific& other) noexcept {
    threads_.swap(other.threads_);
    values_.swap(other.values_);
  }
  void take(enumerable_thread_specific&& other) {
    make_.swap(other.make_);
    swap_values(other);
  }

  std::function<void(void*)> make_;
  fj_detail::thread_table threads_;
  std::mutex mutex_;
  entries values_;
};

}  // namespace tbb
