// Values to which strands add without sharing them: one for each P, combined at the end.
#pragma once

#include "forkjoin/abi/os/requirements.hpp"

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/serial/observer.hpp"

namespace fj { inline namespace v0_4 {

/// Accumulators for parallel work, as oneTBB's combinable: about as many values as there are Ps, made when they are
/// needed, combined at the end.
///
///     fj::combinable<long> sum;
///     fj::parallel_for(range, [&](auto& x) { sum.with_local([&](long& mine) { mine += weight(x); }); });
///     long all = sum.combine(std::plus<>());
///
/// After a fork a strand may continue on another thread, and another strand may then run on the first P. So the handle
/// that local() returns owns its value until the handle is destroyed; meanwhile no other strand gets that value.
///
/// local() and with_local() may be called from any number of threads at once, inside a runtime and outside. combine,
/// for_each, clear, copies, moves and the destructor must not run at the same time as any other operation, nor while a
/// strand holds a local value.
template <class T>
class combinable {
  static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                "fj::combinable: the values must be objects, and not const");

  struct alignas(detail::cache_line) alignas(T) entry {
    T value;
    entry* older;            // all values form a list
    entry* spare = nullptr;  // the next value that no slot has room for
    // For an observer: the last strand that had it.
    [[no_unique_address]] detail::unseen<detail::strand_number> owner{};
  };

 public:
  /// Owns a value. May be moved, also to other strands; one that was moved from owns none, and gives access to none.
  /// Only a handle with a name gives access to the value: after `auto& mine = *c.local();` the handle would be gone,
  /// and `mine` another strand's.
  class handle {
   public:
    handle(handle&& other) noexcept : owner_(other.owner_), mine_(std::exchange(other.mine_, nullptr)) {}
    handle& operator=(handle&& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(mine_, other.mine_);
      return *this;
    }
    ~handle() {
      if (mine_) owner_->put_back(mine_);
    }

    T& operator*() const& noexcept { return mine_->value; }
    T* operator->() const& noexcept { return std::addressof(mine_->value); }
    // Compilers show these lines.
    T& operator*() const&& = delete;   // use c.with_local(f), or name the handle: auto mine = c.local();
    T* operator->() const&& = delete;  // use c.with_local(f), or name the handle: auto mine = c.local();
    operator T&() const = delete;      // a handle is no value: auto mine = c.local(); ++*mine; or c.with_local(f)
    T& operator++() const = delete;    // a handle is no value: auto mine = c.local(); ++*mine; or c.with_local(f)
    template <class U>
    T& operator+=(const U&) const = delete;  // a handle is no value: auto mine = c.local(); *mine += x;

   private:
    friend combinable;
    handle(combinable* owner, entry* mine) noexcept : owner_(owner), mine_(mine) {}

    combinable* owner_;
    entry* mine_;
  };

  /// Values begin as T(). Outside a runtime the constructor makes the default runtime, to learn the number of Ps;
  /// then it throws what the constructor of fj::runtime throws.
  combinable()
    requires std::default_initializable<T>
      : combinable([] { return T(); }) {}

  /// Values begin as what make() returns, which may be called on several threads at once. As above.
  template <class Make>
    requires std::is_invocable_r_v<T, Make&> && std::copy_constructible<Make> &&
                 (!std::same_as<std::remove_cvref_t<Make>, combinable>)
  explicit combinable(Make make) : make_(std::move(make)), slots_(procs() + 1) {}

  ~combinable() { clear(); }

  /// Copies the other object's values. New values begin as in the other object. Errors: what a copy of a value throws.
  combinable(const combinable& other)
    requires std::copy_constructible<T>
      : make_(other.make_), slots_(other.slots_.size()) {
    try {
      for (const entry* one = other.all_.load(std::memory_order_relaxed); one; one = one->older) add_spare(one->value);
    } catch (...) {
      clear();
      throw;
    }
  }

  /// Takes over the other object's values, which then has none. In both objects new values begin as before. Errors:
  /// std::bad_alloc, and what a copy of the function that makes them throws.
  combinable(combinable&& other) : make_(other.make_), slots_(other.slots_.size()) { swap_values(other); }

  /// Replaces the values by copies of the other object's. If a copy throws, nothing has changed.
  combinable& operator=(const combinable& other)
    requires std::copy_constructible<T>
  {
    if (this != &other) *this = combinable(other);
    return *this;
  }

  /// Takes over the other object's values and its function that makes new ones. The other object then has no values;
  /// how its new values begin is unspecified.
  combinable& operator=(combinable&& other) noexcept {
    if (this == &other) return *this;
    make_.swap(other.make_);
    swap_values(other);
    other.clear();
    return *this;
  }

  /// A value for the caller alone: one that was put back on this P, else one for which the place of its P had no room,
  /// or that was copied, else a new one. Errors: what making a value throws. Cost: an atomic exchange, and another one
  /// when the handle is destroyed; a lock where strands on one P have several values at once. So take one handle for
  /// many elements.
  [[nodiscard]] handle local() {
    if constexpr (detail::is_observed) return {this, local_observed()};
    // acquire: pairs with the release in put_back
    if (entry* const unused = own_slot().exchange(nullptr, std::memory_order_acquire)) return {this, unused};
    if (entry* const spare = take_spare()) return {this, spare};
    auto* const fresh = new entry{make_(), nullptr};
    fresh->older = all_.load(std::memory_order_relaxed);
    // relaxed: the joins order it before combine, for_each and clear
    while (!all_.compare_exchange_weak(fresh->older, fresh, std::memory_order_relaxed)) {}
    return {this, fresh};
  }

  /// Calls f with a value for the caller alone, and returns what f returned, which must not be a reference. Errors:
  /// what making a value or f throw. Cost: as local, for each call.
  template <class F>
    requires std::invocable<F&, T&>
  std::invoke_result_t<F&, T&> with_local(F&& f) {
    static_assert(!std::is_reference_v<std::invoke_result_t<F&, T&>>,
                  "fj::combinable::with_local: the function must not return a reference, as the value may be another "
                  "strand's afterwards; return a copy");
    const handle mine = local();
    return std::invoke(f, *mine);
  }

  /// Combines all values by op, in an unspecified order, so op should be associative and commutative. If there are no
  /// values, returns a new one. As in std::accumulate, op gets what there is so far as an rvalue: an op that takes it
  /// by value copies the first value alone. Errors: what op, a copy of a value and, without values, making one throw.
  /// So too for_each: what f throws.
  template <class Op>
    requires std::is_invocable_r_v<T, Op&, const T&, const T&> && std::is_invocable_r_v<T, Op&, T, const T&> &&
             std::copy_constructible<T> && std::assignable_from<T&, T>
  [[nodiscard]] T combine(Op op) const {
    const entry* one = all_.load(std::memory_order_relaxed);
    if (!one) return make_();
    const entry* next = one->older;
    if (!next) return one->value;
    T all = std::invoke(op, one->value, next->value);
    while ((next = next->older))
      all = T(std::invoke(op, std::move(all), next->value));  // what op returns may refer to all
    return all;
  }

  /// Calls f with each value, in an unspecified order.
  template <class F>
  void for_each(F f) {
    for (entry* one = all_.load(std::memory_order_relaxed); one; one = one->older)
      static_cast<void>(std::invoke(f, one->value));
  }
  template <class F>
  void for_each(F f) const {
    for (const entry* one = all_.load(std::memory_order_relaxed); one; one = one->older)
      static_cast<void>(std::invoke(f, one->value));
  }

  /// Destroys all values.
  void clear() noexcept {
    for (slot& one : slots_) one.unused.store(nullptr, std::memory_order_relaxed);
    spares_ = nullptr;
    has_spares_.store(false, std::memory_order_relaxed);
    entry* next = all_.exchange(nullptr, std::memory_order_relaxed);
    while (next) delete std::exchange(next, next->older);
  }

 private:
  struct alignas(detail::cache_line) slot {
    std::atomic<entry*> unused = nullptr;
  };

  // Any slot is right, also for a P of a larger runtime. Threads outside share the first.
  std::atomic<entry*>& own_slot() noexcept {
    return slots_[static_cast<std::size_t>(this_proc() + 1) % slots_.size()].unused;
  }

  void add_spare(const T& value) {
    entry* const before = all_.load(std::memory_order_relaxed);
    entry* const fresh = new entry{value, before};
    fresh->spare = std::exchange(spares_, fresh);
    all_.store(fresh, std::memory_order_relaxed);
    has_spares_.store(true, std::memory_order_relaxed);
  }

  // relaxed: no other strand uses it meanwhile
  void swap_values(combinable& other) noexcept {
    slots_.swap(other.slots_);
    all_.store(other.all_.exchange(all_.load(std::memory_order_relaxed), std::memory_order_relaxed),
               std::memory_order_relaxed);
    std::swap(spares_, other.spares_);
    has_spares_.store(spares_ != nullptr, std::memory_order_relaxed);
    other.has_spares_.store(other.spares_ != nullptr, std::memory_order_relaxed);
  }

  // In one thread all strands would get the same value, and an observer would see them share it. So a strand gets one
  // that only strands before it have had: as many values are made as if each branch ran on a P of its own.
  entry* local_observed() {
    if (entry* const last = own_slot().exchange(nullptr); last && was_before(*last)) return last;
    auto* const fresh = new entry{make_(), all_.load()};
    all_.store(fresh);
    return fresh;
  }

  // The slot hands a value on with its owner; to an observer an atomic access orders nothing.
  static bool was_before(const entry& last) noexcept {
    const detail::unobserved here;
    return !detail::runs_beside(last.owner);
  }
  static void note_owner(entry& mine) noexcept {
    const detail::unobserved here;
    mine.owner = detail::strand_here();
  }

  void put_back(entry* mine) noexcept {
    if constexpr (detail::is_observed) {
      note_owner(*mine);
      return own_slot().store(mine);
    }
    entry* none = nullptr;
    // release: pairs with the acquire in local
    if (own_slot().compare_exchange_strong(none, mine, std::memory_order_release, std::memory_order_relaxed)) return;
    const std::scoped_lock lock(mutex_);
    mine->spare = std::exchange(spares_, mine);
    has_spares_.store(true, std::memory_order_relaxed);
  }

  entry* take_spare() noexcept {
    // relaxed: a strand that misses a spare makes a new value; the mutex orders the rest
    if (!has_spares_.load(std::memory_order_relaxed)) return nullptr;
    const std::scoped_lock lock(mutex_);
    if (!spares_) return nullptr;
    entry* const one = std::exchange(spares_, spares_->spare);
    has_spares_.store(spares_ != nullptr, std::memory_order_relaxed);
    return one;
  }

  std::function<T()> make_;
  std::vector<slot> slots_;
  std::atomic<entry*> all_ = nullptr;
  std::mutex mutex_;
  entry* spares_ = nullptr;
  std::atomic<bool> has_spares_ = false;
};

}}  // namespace fj::v0_4
