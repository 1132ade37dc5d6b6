// When a worker may sleep, which event wakes one, and which of them. runtime/PARKING.md has the proof.
//
// The wake-up that would be lost: a worker looks at all deques, finds nothing, and goes to sleep; between its look and
// its sleep an owner forks, sees no worker asleep, and wakes none. From then on there is work and an idle P. Against
// it:
//
//   worker that parks                                  owner that forks
//   1. announces: ++idle, --spinning if it spun;       a. stores the record as newest
//      fences
//   2. sends a request to every deque                  b. compiler fence
//   3. heavy fence                                     c. reads the request; if there is one:
//   4. looks at every deque                            d. takes it off, fences
//   5. sleeps if all are empty                         e. reads idle and spinning; shares, wakes
//
// By the heavy fence either 4 sees the record of a, or c sees the request of 2. In the second case, by the acquire of
// d, e sees the announcement of 1. If a request of 2 comes between c and d, d clears it, and e sees the announcement,
// too. If the request comes after d, the next push finds it, and the record of a is older than the look of 4.
//
// A spinning worker is responsible for all idle P: while one worker spins, an owner wakes no other. So a worker that
// stops spinning passes this on: if it found work, it wakes the next worker; if it gives up, it takes steps 1 to 5.
// Source: the comment "Worker thread parking/unparking" in Go's runtime/proc.go.
//
// A caller that takes an idle P for a brief job, and gives it back, need not take these steps: it visits. What it
// could have kept from others is that they saw no idle P meanwhile. An owner that pushes, a waker, a worker that parks
// or a caller that goes to sleep relies on that, and sets the recheck flag in the word that counts idle P and visits:
//
//   caller that visits                                 one of these, at a visit (is_turned_away)
//   1. --idle, ++visits                                a. has stored its record, or is ready to be woken
//   2. runs its job                                    b. sees idle == 0 and visits > 0: sets the flag, unless the
//                                                         word has changed
//   3. --visits, ++idle, unless the flag is set
//
// All are changes of one word. So either 3 finds the flag of b, and the caller gives its P up as any other worker does,
// which clears the flag and then looks (handoff::give_up). Or b comes after 3, and finds the idle P.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/list.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/sched/hooks.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// What a worker does after dispatcher::park.
enum class after_park { work, sleep, end };

// The counts are seq_cst where they are no hints. A worker announces itself by one (1 above), passes the fence in
// nothing_left, and looks for work. An owner or a waker stores its work, passes the fence in fork/deque_owner.hpp:
// attend or in dispatcher.hpp: announce, or counts the work in the ready queue (queues.hpp: any), and then reads the
// counts (e above). So it sees the announcement, or the parking worker sees the work.
class parking {
 public:
  // Counted under the dispatcher's mutex, read anywhere.

  void processor_idle() noexcept { counts_.fetch_add(one_idle, std::memory_order_seq_cst); }
  void processor_taken() noexcept { counts_.fetch_sub(one_idle, std::memory_order_seq_cst); }
  int idle() const noexcept { return idle_of(counts_.load(std::memory_order_seq_cst)); }

  // Visits: a caller has an idle P for a job, and gives it back (above).

  void begin_visit() noexcept { counts_.fetch_add(one_visit - one_idle, std::memory_order_seq_cst); }
  /// The P is idle again; false if an owner, waker, worker or caller has set the recheck flag, and nothing has changed.
  bool end_visit() noexcept {
    std::uint64_t now = counts_.load(std::memory_order_seq_cst);
    do {
      if (now & recheck) return false;
    } while (!counts_.compare_exchange_weak(now, now + one_idle - one_visit, std::memory_order_seq_cst));
    return true;
  }
  /// The P is held as by any worker, whose look comes when it gives the P up. That look is for all that set the flag.
  void visit_becomes_hold() noexcept {
    std::uint64_t now = counts_.load(std::memory_order_seq_cst);
    while (!counts_.compare_exchange_weak(now, (now & ~recheck) - one_visit, std::memory_order_seq_cst)) {}
  }

  /// Whether no P is idle. Then the caller may rely on those that hold P to look when they give them up.
  bool is_turned_away() noexcept {
    std::uint64_t now = counts_.load(std::memory_order_seq_cst);
    while (idle_of(now) == 0) {
      if (visits_of(now) == 0 || now & recheck) return true;
      if (counts_.compare_exchange_weak(now, now | recheck, std::memory_order_seq_cst)) return true;
    }
    return false;
  }

  // P that retire (idle_lists::use).

  /// Workers hold so many P too many: each retires when its worker gives it up.
  void set_surplus(int n) noexcept { surplus_.store(n, std::memory_order_relaxed); }
  /// A hint without the mutex.
  int surplus() const noexcept { return surplus_.load(std::memory_order_relaxed); }

  /// One of the surplus.
  void held_processor_retires() noexcept {
    set_surplus(surplus() - 1);
    counts_.fetch_add(one_retired, std::memory_order_seq_cst);
  }
  void idle_processor_retires() noexcept { counts_.fetch_add(one_retired - one_idle, std::memory_order_seq_cst); }
  void retired_processor_returns() noexcept { counts_.fetch_add(one_idle - one_retired, std::memory_order_seq_cst); }
  int retired() const noexcept { return retired_of(counts_.load(std::memory_order_seq_cst)); }

  /// How many P no worker holds, the idle ones and the retired ones.
  int unheld() const noexcept {
    const std::uint64_t now = counts_.load(std::memory_order_seq_cst);
    return idle_of(now) + retired_of(now);
  }

  /// Threads that could be woken or started for an idle P are there, or are not any longer.
  void thread_available(int n = 1) noexcept { threads_.fetch_add(n, std::memory_order_seq_cst); }
  void thread_taken(int n = 1) noexcept { threads_.fetch_sub(n, std::memory_order_seq_cst); }

  // Spinning.

  void start_spinning() noexcept { spinning_.fetch_add(1, std::memory_order_seq_cst); }

  void stop_spinning() noexcept { spinning_.fetch_sub(1, std::memory_order_seq_cst); }

  /// Go's limit: half as many spin as work, so that looking for work does not cost more than doing it.
  bool may_spin(int procs) const noexcept { return 2 * spinning_.load(std::memory_order_relaxed) < procs - unheld(); }

  /// seq_cst: as in queues.hpp: any_urgent
  bool any_spinning() const noexcept { return spinning_.load(std::memory_order_seq_cst) > 0; }

  /// Whether a worker waits for a record to become public. The owner fences before it asks (fork/deque_owner.hpp:
  /// attend).
  bool hungry() noexcept {
    return spinning_.load(std::memory_order_relaxed) > 0 ||
           (!is_turned_away() && threads_.load(std::memory_order_relaxed) > 0);
  }

  /// Whether a worker should be woken for new work: some P is idle and no worker spins.
  bool should_wake() noexcept { return !is_turned_away() && spinning_.load(std::memory_order_seq_cst) == 0; }

  /// Takes it upon the caller to wake one, as spinning. False if another is at it, or none should be woken.
  bool begin_waking() noexcept {
    int none = 0;
    return should_wake() && spinning_.compare_exchange_strong(none, 1, std::memory_order_seq_cst);
  }

  /// Steps 2 to 4 above, after the announcement: whether the worker may sleep. `for_each_deque` calls what it is given
  /// with the active deque of every P.
  template <class ForEach, class Fence>
  static bool nothing_left(ForEach for_each_deque, Fence heavy_fence) {
    // Between the announcement and the loads by which deques are found: pairs with the fences in fork/deque_owner.hpp:
    // attend, and in leaving.hpp: activate. An owner that has not seen the announcement opened its deque before, and
    // that deque is found here.
    os::fence();
    for_each_deque([](auto& d) { d.request(); });
    heavy_fence();  // the requests, then newest of each: pairs with the light fence in push (forkjoin/abi/record.hpp)
    bool empty = true;
    for_each_deque([&](auto& d) { empty = empty && d.looks_empty(); });
    return empty;
  }

 private:
  using count = os::atomic<int>;

  // Of P, 16 bits each: the idle ones, those that callers visit, and the retired ones; and the recheck flag. One word,
  // as a P that retires or returns changes two, and in between a look at one and a look at the other would see that all
  // P are idle when they are not.
  static constexpr std::uint64_t one_idle = 1, one_visit = std::uint64_t{1} << 16, one_retired = std::uint64_t{1} << 32,
                                 recheck = std::uint64_t{1} << 48;
  static constexpr int idle_of(std::uint64_t counts) noexcept { return static_cast<int>(counts % one_visit); }
  static constexpr int visits_of(std::uint64_t counts) noexcept {
    return static_cast<int>(counts / one_visit % one_visit);
  }
  static constexpr int retired_of(std::uint64_t counts) noexcept {
    return static_cast<int>(counts / one_retired % one_visit);
  }
  alignas(cache_line) os::atomic<std::uint64_t> counts_{0};
  count threads_{0};
  count spinning_{0};
  alignas(cache_line) count surplus_{0};  // apart: each worker reads it before each fiber
};

// What is idle: the P that no worker holds, the threads that sleep, and the callers of run that wait without a P.
//
// A runtime may use fewer P than it has (runtime::set_procs). The others are retired: no worker holds them, and they
// are not among the idle. Any P may retire. An idle one does so at once. One that a worker holds does so where it would
// become idle; to that end its worker gives it up before the next fiber (loop.hpp), or when it looks for work
// (find.hpp), and then sleeps. So nothing is on a retired P but timers, which others fire: its deque is empty between
// two strands, and its fibers go to the ready queue (handoff::give_up).
//
//   surplus > 0     no P is idle: so whatever is ready belongs to workers that hold P, and one P at least stays in use
//   P that return   as if their workers parked at that moment: they are announced as idle, and then the thread that
//                   called dispatcher::use looks for work
//
// Source: procresize in Go's runtime/proc.go, which stops the world instead.

/// Under the dispatcher's mutex; the counts of `parking` are kept in step, and others read them without it.
class idle_lists {
 public:
  using sleepers = linked_list<worker, &worker::sleeps>;

  explicit idle_lists(parking& counts) noexcept : counts_(counts) {}

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

  // For a caller that visits.

  processor* take_for_visit() noexcept {
    processor* const p = processors_.pop();
    if (!p) return nullptr;
    counts_.begin_visit();
    p->visited = true;
    return p;
  }

  /// The P is idle again, as if it had been idle all the time. False if it is to be given up with a look.
  bool put_after_visit(processor& p) noexcept {
    if (!p.visited || counts_.surplus() > 0 || !p.queue.empty() || !counts_.end_visit()) return false;
    p.visited = false;
    scheduler_hooks::make_idle(p);
    processors_.push(&p);
    return true;
  }

  /// Before a P changes hands by any other way.
  void end_visit_of(processor& p) noexcept {
    if (!p.visited) return;
    p.visited = false;
    counts_.visit_becomes_hold();
  }

  /// A P with nothing to do.
  void put_processor(processor& p) noexcept {
    scheduler_hooks::make_idle(p);
    if (counts_.surplus() > 0) {
      retired_.push(&p);
      counts_.held_processor_retires();
    } else {
      processors_.push(&p);
      counts_.processor_idle();
    }
  }

  /// From now on so many of `all` P are in use, at least one. Whether retired P have become idle.
  bool use(int wanted, int all) noexcept {
    int excess = all - counts_.retired() - wanted;
    for (; excess > 0 && !processors_.empty(); --excess) {
      retired_.push(processors_.pop());
      counts_.idle_processor_retires();
    }
    counts_.set_surplus(excess > 0 ? excess : 0);
    const bool grows = excess < 0;
    for (; excess < 0; ++excess) {
      processors_.push(retired_.pop());
      counts_.retired_processor_returns();
    }
    return grows;
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

  /// A sleeping caller with records of its job in some deque of `all`. It works for that job alone, or two callers
  /// could wake each other for as long as there are records of a third.
  worker* caller_with_records(processors& all) const noexcept {
    worker* found = nullptr;
    if (callers_.empty()) return nullptr;
    all.for_each_deque([&](auto& d) {
      if (!found && !scheduler_hooks::seems_empty(d)) found = caller_of(d);
    });
    return found;
  }

  /// Sends a request to each deque of `all` where the job's caller sleeps. False if there is no such deque.
  bool ask_owners_for_callers(processors& all) const noexcept {
    bool any = false;
    if (callers_.empty()) return false;
    all.for_each_deque([&](auto& d) {
      if (!caller_of(d)) return;
      d.request();
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

  parking& counts_;
  stack_list<processor, &processor::next> processors_, retired_;
  sleepers threads_;
  sleepers callers_;
};

// How many more threads a runtime may start, and whether the system has refused one.

/// Under the dispatcher's mutex; the count of threads in `parking` is kept in step.
class thread_budget {
 public:
  thread_budget(unsigned max_threads, parking& counts) noexcept
      : max_threads_(max_threads), startable_(max_threads), counts_(counts) {
    counts_.thread_available(static_cast<int>(startable_));
  }

  bool any_left() const noexcept { return startable_ > 0; }
  bool any_started() const noexcept { return started_ > 0; }
  bool any_starting() const noexcept { return starting_ > 0; }
  /// A system that has refused threads may do so again.
  bool any_refused() const noexcept { return ask_again_at_ != 0; }
  /// Whether none is to be had only because the system has refused one.
  bool is_short() const noexcept { return startable_ == 0 && any_refused() && started_ + starting_ < max_threads_; }

  /// Before a thread is started, which takes the system about 50 us, without the mutex. False if there is none to be
  /// had.
  bool begin_start() noexcept {
    if (startable_ == 0) return false;
    --startable_;
    ++starting_;
    counts_.thread_taken();
    return true;
  }

  /// After that. If the system refused the thread it gives no more: the runtime goes on with those that there are.
  void end_start(bool has_started) noexcept {
    --starting_;
    if (has_started) {
      ++started_;
      return;
    }
    counts_.thread_taken(static_cast<int>(startable_));
    startable_ = 0;
    ask_again_at_ = os::now_ns() + tuning::between_refusals_ns;
  }

  /// What the system refused, for want of memory or by a limit that other threads share, it may give later: to a job,
  /// as the first fork of that sees that a thread could be started, or to what waits for one (dispatcher.hpp:
  /// ask_for_refused_thread).
  void ask_again() noexcept {
    const unsigned lacking = max_threads_ - started_ - starting_;
    if (startable_ != 0 || lacking == 0 || os::now_ns() < ask_again_at_) return;
    startable_ = lacking;
    counts_.thread_available(static_cast<int>(lacking));
  }

 private:
  const unsigned max_threads_;
  unsigned startable_;  // now
  unsigned starting_ = 0, started_ = 0;
  std::int64_t ask_again_at_ = 0;  // once a thread was refused
  parking& counts_;
};

}}}  // namespace fj::v0_4::detail
