// What the P of a runtime hold while none of its threads goes on: read from the runtime itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/steps/program.hpp"
#include "runtime/os/turns.hpp"

namespace fj { inline namespace v0_4 { namespace detail {
struct fiber;
struct record;
class scheduler;
struct worker;
}}}  // namespace fj::v0_4::detail

namespace steps {

/// What the rows show of a P, by the names that the program gave.
struct holdings {
  std::vector<std::vector<std::string>>
      waiting;                     ///< the strands that wait and ran here last: their calls, outermost first
  std::vector<std::string> stack;  ///< the calls of the running strand, outermost first
  std::vector<std::string> deque;  ///< the records, oldest first

  bool operator==(const holdings&) const = default;
};

class stage {
 public:
  explicit stage(bool tasks) : tasks_(tasks) {}

  // By the program, while its thread goes on.

  bool tasks() const noexcept { return tasks_; }
  void call_begins(call& c);
  /// `how`: in words.
  void call_ends(const std::string& how);
  void call_joins(const call& c);
  void call_has_joined(const call& c);
  void call_is_over(const call& c);
  /// The newest record of the running strand.
  const fj::detail::record* newest_record() const;
  void name_record(const fj::detail::record* r, const std::string& name);

  // By the one that chooses who goes on, on the thread that gives its turn up.

  /// Notes what the calling thread holds; what the others hold has been noted so.
  void note_thread();
  /// Of the thread with that number: the P that it holds; none if it holds none, or has done nothing yet.
  static constexpr unsigned none = ~0u;
  unsigned proc_of(unsigned thread) const;
  /// Whether it runs a strand.
  bool runs_strand(unsigned thread) const;
  /// Whether a worker without a strand would find one.
  bool anything_to_take() const;

  /// What each P holds, and what has happened since the last call, in words: by the worker of P `acting`.
  struct change {
    std::vector<holdings> now;
    std::vector<std::string> events;
  };
  change look(unsigned acting);

 private:
  struct thread_state {
    fj::detail::worker* worker = nullptr;
    fj::detail::fiber* runs = nullptr;
  };
  /// A record as it was pushed: the next one at the same place is another.
  struct pushed_record {
    unsigned number = 0;
    std::string name = "?";
    bool operator==(const pushed_record& other) const noexcept { return number == other.number; }
  };
  using records = std::vector<pushed_record>;

  /// A strand that waits, at the n-th join of all.
  struct wait {
    const fj::detail::fiber* strand;
    unsigned join;
    bool was_told;  // when it began to run other work on its stack
    std::string of;
    bool operator==(const wait& other) const noexcept { return join == other.join; }
  };

  /// A join that a call is in.
  struct join_state {
    unsigned number = 0;
    // Of its P, by the runtime's counter, when the call came there or last ran something on top.
    std::uint64_t waits_before = 0;
    bool waits = false;  // and runs other work
  };

  void note_wait_on_top(const call& below);
  std::vector<std::string> calls_of(const fj::detail::fiber* f) const;
  void note_records(unsigned acting, std::vector<std::string>& events);
  std::vector<wait> waits_now() const;

  const bool tasks_;
  fj::detail::scheduler* runtime_ = nullptr;
  std::map<unsigned, thread_state> threads_;
  std::map<const fj::detail::fiber*, std::vector<call*>> calls_;
  std::map<const fj::detail::fiber*, unsigned> ran_on_;  // the P
  std::vector<wait> waiting_;                            // at the last look, in the order in which they began
  std::map<const call*, join_state> at_join_;
  std::map<const fj::detail::record*, pushed_record> pushed_;
  unsigned pushes_ = 0, joins_ = 0;
  std::vector<records> deques_;  // at the last look
  std::vector<std::string> events_;
  std::vector<std::string> waits_on_top_;
  std::string silent_event_;  // said if nothing else has happened
};

/// The one of the run.
stage& the_stage() noexcept;
void set_stage(stage& s) noexcept;

}  // namespace steps
