// Threads that take turns, in an order that the program chooses: to show a schedule step by step, or to have the same
// again.
//
// One thread goes on, and all others sleep. It gives its turn up where it would otherwise pause, yield, sleep, or wait
// for a futex or the end of a thread, and where another one may come between (point). Then a function of the program's
// says which thread goes on. The clock that all of them read stands still but for these points, so the same choices
// give the same schedule.
//
// Real threads run the real code. What a thread does between two points is all that happens meanwhile, so such a run
// finds errors of order, and none of memory order.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "forkjoin/abi/os/clock.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

class turns {
 public:
  static constexpr std::int64_t never = (std::numeric_limits<std::int64_t>::max)();

  /// A thread.
  struct taker {
    unsigned number;               ///< in the order in which they began, from 0
    taker* next = nullptr;         ///< which began after it
    const void* awaits = nullptr;  ///< what it sleeps for; nullptr: nothing
    std::int64_t until = never;    ///< when its sleep ends by itself, by now_ns
    bool timed_out = false;        ///< its last sleep did
    bool ended = false;
    std::atomic<std::uint32_t> called{0};

    bool can_go_on() const noexcept { return !awaits && !ended; }
  };

  /// Why a thread gives its turn up: another one may come between, though it could go on; it looks again for what it
  /// waits for; it cannot go on.
  enum class cause : std::uint8_t { point, pause, sleep };

  /// Which of the takers, of which `first` is the first, goes on. One that can; there is one. Called by the thread that
  /// gives its turn up.
  using choice = taker& (*)(void* context, taker& first, cause why) noexcept;

  /// From here to the destructor the calling thread, and those that it starts by os::thread, take turns. The destructor
  /// comes after the end of those. One object at a time in a process.
  /// `begins_ns`: what its clock reads.
  turns(choice next, void* context, std::int64_t begins_ns = 1'000'000'000);
  ~turns();
  turns(const turns&) = delete;
  turns& operator=(const turns&) = delete;

  /// Those that the calling thread takes part in, or nullptr. Read where a thread spins or sleeps, never by a fork that
  /// is not stolen.
  static turns* mine() noexcept { return takes_turns() ? turns_taken.load(std::memory_order_relaxed) : nullptr; }

  /// In a process with one thread: it takes no turns any more.
  static void forget() noexcept;

  /// The calling thread; nullptr if it takes no turns.
  static taker* self() noexcept;

  /// Gives the turn up, for one of these causes. Returns when it is this thread's again.
  void point() noexcept { give_up(cause::point); }
  void pass() noexcept { give_up(cause::pause); }

  /// The same for a thread that cannot go on before wake(word) or the time `until`. False if that time came first.
  bool sleep(const void* word, std::int64_t until) noexcept;
  void sleep_for(std::int64_t nanoseconds) noexcept { static_cast<void>(sleep(self(), now_ns() + nanoseconds)); }

  /// One thread that sleeps for `word` can go on: the first of them that began.
  void wake(const void* word) noexcept;

  /// Some 50 ns after the last call: so loops end that wait for a time.
  std::int64_t now_ns() noexcept;

  // A thread that another one starts.

  /// By that one, before it starts the thread.
  taker& begin();
  /// By that one: the system refused it.
  void refused(taker& t) noexcept;
  /// By the new thread, first and last.
  static void arrive(taker& t) noexcept;
  void leave() noexcept;
  /// By the thread that joins it, before it does.
  void await_end(const taker& t) noexcept;

 private:
  /// While it lives, what the calling strand does here comes after what others did, as a race detector sees it. It
  /// takes strands for threads, and their switches order nothing.
  class in_order {
   public:
    explicit in_order(turns& all) noexcept;
    ~in_order();
    in_order(const in_order&) = delete;
    in_order& operator=(const in_order&) = delete;

   private:
    turns& all_;
  };

  void give_up(cause why) noexcept;
  void go_on_with_next(taker* giver, cause why) noexcept;
  void end_sleeps() noexcept;

  const choice next_;
  void* const context_;
  // The holder of the turn reads and changes these.
  taker* first_ = nullptr;
  taker* last_ = nullptr;
  std::int64_t now_;
};

}}}}  // namespace fj::v0_4::detail::os
