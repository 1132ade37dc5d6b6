// All Ps of a runtime, and the rounds in which threads look at their deques.
//
// The library, the models and the simulator have a P each of their own, and this class in common.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "runtime/fork/deque.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// So many objects that stay where they are.
template <class T>
class fixed_array {
 public:
  /// Throws std::bad_alloc.
  explicit fixed_array(unsigned count) : all_(new T[count]) {}
  T& operator[](unsigned index) noexcept { return all_[index]; }
  const T& operator[](unsigned index) const noexcept { return all_[index]; }

 private:
  std::unique_ptr<T[]> all_;
};

/// A look at a P costs the look alone, and goes to one P as to another.
struct plain_looks {
  /// What a thread does that looks at the near ones first: how often it goes over all of them, and whether it looks at
  /// this one then.
  struct round {
    static constexpr unsigned passes() noexcept { return 1; }
    static constexpr bool takes_in(const auto&, unsigned) noexcept { return true; }
  };
  static constexpr round begin_round() noexcept { return {}; }

  /// Lives while a thread looks at the P, or at all of them at once.
  struct look {
    constexpr look(const plain_looks&, const auto&) noexcept {}
    explicit constexpr look(const plain_looks&) noexcept {}
  };
};

/// `Array`: has so many objects, as fixed_array. `Looks`: as plain_looks.
template <class Processor, template <class> class Array = fixed_array, class Looks = plain_looks>
class basic_processors {
 public:
  /// Throws what Array throws.
  explicit basic_processors(unsigned count, Looks looks = {})
      : count_(count), looks_(std::move(looks)), all_(count), steps_(count) {
    for (unsigned i = 1; i <= count; ++i)
      if (std::gcd(i, count) == 1) steps_[step_count_++] = i;
  }

  unsigned count() const noexcept { return count_; }
  Processor& operator[](unsigned index) noexcept { return all_[index]; }
  const Processor& operator[](unsigned index) const noexcept { return all_[index]; }

  /// The numbers up to count() that have no divisor in common with it: to go round in steps of one of them meets every
  /// P.
  std::uint32_t steps() const noexcept { return step_count_; }
  unsigned step(std::uint32_t index) const noexcept { return steps_[index]; }

  /// Calls visit(processor, deque) for each P and its active deque, beginning with number `first`, in steps of `step`,
  /// as long as it returns true. The deques of waiting fibers are none of them: markers in the ready queue stand for
  /// these.
  template <class Visit>
  void for_each(unsigned first, unsigned step, Visit visit) {
    go_over(first, step, visit, [](const Processor&) { return true; });
  }
  /// The same, but those that are near the calling thread come first, if Looks knows which these are.
  template <class Visit>
  void for_each_near_first(unsigned first, unsigned step, Visit visit) {
    const typename Looks::round& round = looks_.begin_round();
    if (round.passes() != 1) [[unlikely]]
      return go_in_passes(round, first, step, visit);
    for_each(first, step, std::move(visit));
  }
  /// As for_each, with visit(deque).
  template <class Visit>
  void for_each_deque(unsigned first, unsigned step, Visit visit) {
    for_each(first, step, [&visit](Processor&, deque_thief& d) { return visit(d); });
  }
  /// Calls visit(deque) for all of them, in one look.
  template <class Visit>
  void for_each_deque(Visit visit) {
    [[maybe_unused]] const typename Looks::look now(looks_);
    for (unsigned i = 0; i < count_; ++i) visit(deque_of(all_[i]));
  }

  const Looks& looks() const noexcept { return looks_; }

 private:
  // False once visit has said so.
  template <class Visit, class TakesIn>
  bool go_over(unsigned first, unsigned step, Visit& visit, TakesIn takes_in) {
    for (unsigned i = 0, at = first; i < count_; ++i, at = (at + step) % count_) {
      if (!takes_in(all_[at])) continue;
      [[maybe_unused]] const typename Looks::look now(looks_, all_[at]);
      if (!visit(all_[at], deque_of(all_[at]))) return false;
    }
    return true;
  }

  template <class Visit>
  [[gnu::noinline]] void go_in_passes(const typename Looks::round& round, unsigned first, unsigned step, Visit& visit) {
    for (unsigned pass = 0; pass < round.passes(); ++pass)
      if (!go_over(first, step, visit, [&](const Processor& p) { return round.takes_in(p, pass); })) return;
  }

  // acquire: pairs with the releases in leaving.hpp: activate, queues.hpp: detach_records and switch.cpp:
  // replace_active_deque
  static deque_thief& deque_of(Processor& p) noexcept {
    return p.active.load(std::memory_order_acquire)->for_thieves();
  }

  const unsigned count_;
  [[no_unique_address]] const Looks looks_;
  Array<Processor> all_;
  Array<unsigned> steps_;
  std::uint32_t step_count_ = 0;
};

}}}  // namespace fj::v0_4::detail
