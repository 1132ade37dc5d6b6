// What is idle: the P that no worker holds, the threads that sleep, and the callers of run that wait without a P.
#pragma once

#include "../base/list.hpp"
#include "parking.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Under the dispatcher's mutex; the counts of `parking` are kept in step, and others read them without it.
template <class Machine>
class basic_idle {
 public:
  using processor = typename Machine::processor;
  using processors = typename Machine::processors;
  using worker = typename Machine::worker;
  using sleepers = linked_list<worker, &worker::sleeps>;

  explicit basic_idle(basic_parking<Machine>& counts) noexcept : counts_(counts) {}

  bool has_processor() const noexcept { return !processors_.empty(); }

  /// The P that became idle last, or nullptr.
  processor* take_processor() noexcept {
    processor* const p = processors_.pop();
    if (p) counts_.processor_taken();
    return p;
  }

  /// That P if it is idle, else the one that became idle last, or nullptr.
  processor* take_processor(processor& wanted) noexcept {
    if (!processors_.remove(&wanted)) return take_processor();
    counts_.processor_taken();
    return &wanted;
  }

  /// A P with nothing to do.
  void put_processor(processor& p) noexcept {
    Machine::becomes_idle(p);
    processors_.push(&p);
    counts_.processor_idle();
  }

  bool has_thread() const noexcept { return !threads_.empty(); }
  worker* last_thread() const noexcept { return threads_.last(); }

  /// The thread that went to sleep last, whose cache is warm, or nullptr.
  worker* take_thread() noexcept {
    worker* const m = threads_.last();
    if (m) remove_thread(*m);
    return m;
  }

  void remove_thread(worker& m) noexcept {
    threads_.remove(m);
    counts_.thread_taken();
  }

  void put_thread(worker& m) noexcept {
    threads_.push(m);
    counts_.thread_available();
  }

  const sleepers& callers() const noexcept { return callers_; }

  /// A sleeping caller with records of its root in some deque of `all`. It works for that root alone, or two callers could wake
  /// each other for as long as there are records of a third.
  worker* caller_with_records(processors& all) const noexcept {
    worker* found = nullptr;
    if (callers_.empty()) return nullptr;
    all.for_each_deque([&](auto& d) {
      if (!found && !Machine::seems_empty(d)) found = caller_of(d);
    });
    return found;
  }

  /// Sounds the alarm of each deque of `all` where the root's caller sleeps. False if there is no such deque.
  bool alarm_owners_for_callers(processors& all) const noexcept {
    bool any = false;
    if (callers_.empty()) return false;
    all.for_each_deque([&](auto& d) {
      if (!caller_of(d)) return;
      d.alarm();
      any = true;
    });
    return any;
  }

  void remove_caller(worker& m) noexcept {
    callers_.remove(m);
    counts_.thread_taken();
    m.asleep = false;
  }

  void put_caller(worker& m) noexcept {
    m.asleep = true;
    callers_.push(m);
    counts_.thread_available();
  }

 private:
  worker* caller_of(auto& d) const noexcept {
    return callers_.find([&d](const worker& m) { return m.brought == d.whose(); });
  }

  basic_parking<Machine>& counts_;
  stack_list<processor, &processor::next> processors_;
  sleepers threads_;
  sleepers callers_;
};

}}}  // namespace fj::v0_2::detail
