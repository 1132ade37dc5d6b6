// Simulated time. Each worker runs on a stack of its own; they run one at a time, in the order of their clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/simulate/agenda.hpp"
#include "bench/simulate/lines.hpp"
#include "bench/simulate/prices.hpp"
#include "runtime/os/context/context.hpp"

namespace simulate {

/// A worker as time sees it: a clock, and a stack that costs nothing until it is used.
class actor {
 public:
  /// Throws std::bad_alloc. `index` decides between actors at the same time.
  explicit actor(unsigned index);
  ~actor();
  actor(const actor&) = delete;
  actor& operator=(const actor&) = delete;

  const unsigned index;
  picoseconds clock = 0;
  bool works = false;     ///< runs a strand; else it looks for work
  bool alone = false;     ///< does what no other sees, and takes its turn later
  bool looks = false;     ///< at one deque after another
  actor* next = nullptr;  ///< among those that wait for the same mutex

 private:
  friend class timeline;

  std::byte* const stack_;
  fj::detail::os::context context_;
};

class timeline {
 public:
  /// With so many processors on so many sockets.
  timeline(const prices& cost, unsigned processors, unsigned sockets, bool runs_ahead);
  ~timeline() { current_ = before_; }
  timeline(const timeline&) = delete;
  timeline& operator=(const timeline&) = delete;

  /// Runs entry(actor) on the stack of each actor, from when it is resumed first, until one of them calls stop. Only
  /// from outside. False if all of them wait instead.
  bool run();

  void add(actor& fresh, fj::detail::os::context_entry entry, void* argument);

  /// The one of the simulation that this thread makes.
  static timeline& current() noexcept { return *current_; }

  const prices price;

  // By the actor that runs.

  /// First of all.
  void begin() const noexcept;

  actor& self() const noexcept { return *self_; }

  /// The library takes 0 for a time long ago, so the clock begins long after it.
  std::int64_t now_ns() const noexcept { return 1'000'000'000 + (self_ ? self_->clock / 1000 : 0); }

  /// What others see of the actor after this comes that much later.
  void pass(picoseconds time) noexcept {
    self_->clock += time;
    await_turn();
  }

  /// Returns when no other actor has anything to do before this one's clock.
  void await_turn() noexcept {
    if (self_->works ? agenda_.may_act(self_->clock, self_->index) : agenda_.may_look(self_->clock, self_->index))
      return;
    agenda_.add(self_->clock, self_->index, self_->works);
    wait();
  }

  /// Before an access: the actor's processor gets the cache line.
  static void touch(const void* address, line_use how) noexcept {
    if (current_ && current_->lines_cost_) current_->get_line(address, how);
  }
  cache_lines& lines() noexcept { return lines_; }

  picoseconds price_of_heavy_fence() const noexcept {
    const std::size_t others = agenda_.size();
    return price.membarrier + (others > 1 ? static_cast<picoseconds>(others - 1) * price.interrupt : 0);
  }

  /// Up to when the actor, which works, may do what no other sees.
  picoseconds alone_until() const noexcept {
    return runs_ahead_ && blocked_ == 0 ? agenda_.next_look() : agenda_.next();
  }

  /// Returns when another has resumed it.
  void wait() noexcept;

  /// The same, by one that another may resume at once, whatever it does.
  void wait_for_mutex() noexcept {
    ++blocked_;
    wait();
    --blocked_;
  }

  /// An actor that waits, or that was added, goes on at that time.
  void resume(actor& waits, picoseconds when) noexcept {
    waits.clock = std::max(waits.clock, when);
    agenda_.add(waits.clock, waits.index, waits.works);
  }

  /// Ends run.
  void stop() noexcept;

 private:
  void get_line(const void* address, line_use how) noexcept;
  void change(fj::detail::os::context& from, fj::detail::os::context& to) noexcept;

  static inline thread_local timeline* current_ = nullptr;

  timeline* const before_;
  const bool runs_ahead_;
  cache_lines lines_;
  const bool lines_cost_;
  agenda agenda_;
  unsigned blocked_ = 0;  // actors that wait for a mutex
  std::vector<actor*> actors_;
  actor* self_ = nullptr;
  fj::detail::os::context outside_;
  bool stopped_ = false;
};

}  // namespace simulate
