#include "forkjoin/abi/explore.hpp"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <vector>

#include "forkjoin/abi/runtime.hpp"
#include "runtime/environment.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/os/copy_of_process.hpp"
#include "runtime/os/exception_type.hpp"
#include "runtime/os/turns.hpp"
#include "runtime/replay.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

constexpr std::uint64_t most_choices = 1'000'000;
constexpr std::int64_t longest_without_choice_ns = 20'000'000'000;
constexpr unsigned most_shortenings = 300;
constexpr std::int64_t longest_shortening_ns = 30'000'000'000;

/// What a copy of the process tells.
struct told {
  static constexpr std::size_t room = 4096;

  full_schedule_log log;
  bool has_returned;
  std::size_t size;     // of the text, which may be cut
  std::uint64_t whole;  // a hash of all of it
  char text[room];

  void say(const std::string& all) noexcept {
    size = std::min(all.size(), room);
    std::memcpy(text, all.data(), size);
    whole = std::hash<std::string>()(all);
  }
};

struct copied_call {
  explored_program program;
  options wanted;
  told* to;
};

/// A runtime, while it lives.
class open_runtime {
 public:
  explicit open_runtime(const options& wanted) : scheduler_(open_scheduler(wanted)) {}
  ~open_runtime() { close_scheduler(scheduler_); }
  open_runtime(const open_runtime&) = delete;
  open_runtime& operator=(const open_runtime&) = delete;

  std::string call(explored_program program);

 private:
  scheduler* const scheduler_;
};

struct call_of_program : job_body {
  explicit call_of_program(explored_program what) noexcept : job_body(&call_it), program(what) {}

  static void call_it(job_body& self) noexcept {
    auto& mine = static_cast<call_of_program&>(self);
    try {
      mine.result = mine.program.call(mine.program.f);
    } catch (...) {
      mine.error = std::current_exception();
    }
  }

  explored_program program;
  std::string result;
  std::exception_ptr error;
};

std::string open_runtime::call(explored_program program) {
  call_of_program mine(program);
  run_job(*scheduler_, mine);
  if (mine.error) std::rethrow_exception(mine.error);
  return std::move(mine.result);
}

int run_in_copy(void* argument) noexcept {
  const copied_call& mine = *static_cast<const copied_call*>(argument);
  told& to = *mine.to;
  try {
    for (const char* const file : {"FORKJOIN_TRACE", "FORKJOIN_FLIGHT_RECORDER"}) unsetenv(file);  // one for each copy
    const schedule_session session(mine.wanted.schedule, &to.log);
    open_runtime runtime(mine.wanted);
    to.say(runtime.call(mine.program));
    to.has_returned = true;
  } catch (const std::exception& error) {
    to.say(os::type_of_exception() + ": " + error.what());
  } catch (...) {
    to.say(os::type_of_exception());
  }
  return 0;
}

std::uint64_t choices_of(void* argument) {
  return static_cast<const copied_call*>(argument)->to->log.choices.load(std::memory_order_relaxed);
}

/// One schedule, as it was.
struct course {
  bool failed = false;
  bool by_result = false;
  std::string kind;  // of failure, if it failed
  std::string why;   // the same, and what was thrown, printed or returned
  std::uint64_t hash = 0, choices = 0;
  std::vector<schedule_log::change> changes;
  bool has_all_changes = true;
  std::string error_output;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class explorer {
 public:
  explorer(explored_program program, const options& wanted)
      : shared_(sizeof(told)), call_{program, wanted, static_cast<told*>(shared_.begin())} {}

  course run(std::uint64_t seed, const char* changes = nullptr) {
    shared_.clear();
    told& to = *call_.to;
    to.log.most_choices = most_choices;
    call_.wanted.schedule = {.seed = seed, .changes = changes};
    const os::copy_end end = os::call_in_copy(&run_in_copy, &call_, &choices_of, longest_without_choice_ns);
    course seen;
    seen.hash = to.log.hash.load(std::memory_order_relaxed);
    seen.choices = to.log.choices.load(std::memory_order_relaxed);
    const std::uint64_t kept =
        std::min<std::uint64_t>(to.log.changes.load(std::memory_order_relaxed), schedule_log::room);
    seen.has_all_changes = kept == to.log.changes.load(std::memory_order_relaxed);
    seen.changes.assign(to.log.list, to.log.list + kept);
    seen.error_output = end.error_output;
    const std::string text(to.text, std::min(to.size, told::room));  // the copy may have written anywhere
    std::string detail;
    if (end.was_stuck) {
      seen.kind = "it came to no fork, join, or operation of <forkjoin/go.hpp> for 20 s";
    } else if (!end.by_itself) {
      seen.kind = "the process ended by signal " + std::to_string(end.number) + " (" + strsignal(end.number) + ")";
      detail = first_line(end.error_output);
    } else if (end.number != 0) {
      seen.kind = "the process ended with status " + std::to_string(end.number);
      detail = first_line(end.error_output);
    } else if (!to.has_returned) {
      seen.kind = text.empty() ? "the process ended with status 0 before the function had returned" : "it threw";
      detail = text;
    } else if (expected_ && *expected_ != std::pair(text, to.whole)) {
      seen.by_result = true;
      seen.kind = "its result is not that of the first schedule, " + expected_->first;
      detail = text;
    } else if (!expected_) {
      expected_ = {text, to.whole};
    }
    seen.why = detail.empty() ? seen.kind : seen.kind + ": " + detail;
    seen.failed = !seen.kind.empty();
    return seen;
  }

 private:
  os::shared_memory shared_;
  copied_call call_;
  std::optional<std::pair<std::string, std::uint64_t>> expected_;
};

// Fewer changes with which the program still fails in the same way. By halves, then by quarters, and so on: Zeller and
// Hildebrandt, "Simplifying and isolating failure-inducing input" (2002).
std::vector<schedule_log::change> shortened(explorer& by, std::uint64_t seed, const course& failed) {
  std::vector<schedule_log::change> kept = failed.changes;
  unsigned left = most_shortenings;
  const auto fails_with = [&](const std::vector<schedule_log::change>& changes) {
    const course seen = by.run(seed, text_of(changes).c_str());
    return seen.failed && seen.kind == failed.kind && (failed.by_result || seen.why == failed.why);
  };
  const std::int64_t begin = os::now_ns();
  bool told = false;
  const auto goes_on = [&] {
    const std::int64_t since = os::now_ns() - begin;
    if (since > 1'000'000'000 && !std::exchange(told, true))  // whoever waits, or ends the program, is to know
      std::fprintf(stderr, "forkjoin: explore: schedule %llu fails: %s; looking for its changes that matter\n",
                   static_cast<unsigned long long>(seed), failed.why.c_str());
    return left != 0 && since < longest_shortening_ns;
  };
  if (!fails_with(kept)) return kept;
  for (std::size_t part = kept.size(); part != 0 && goes_on(); part = (part == 1 ? 0 : (part + 1) / 2)) {
    for (std::size_t at = 0; at < kept.size() && goes_on();) {
      std::vector<schedule_log::change> fewer = kept;
      const std::size_t end = std::min(at + part, fewer.size());
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at), fewer.begin() + static_cast<std::ptrdiff_t>(end));
      --left;
      if (fails_with(fewer)) {
        kept = std::move(fewer);
      } else {
        at = end;
      }
    }
  }
  return kept;
}

std::string indented(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    result += "  | " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return result;
}

void print(const exploration& found, const course& failed, const std::string& error_output) {
  std::string text = "forkjoin: explore: schedule " + std::to_string(found.seed) + " fails: " + found.why + "\n" +
                     indented(error_output);
  if (found.repeats) {
    text += "  it has " + std::to_string(failed.choices) + " choices, of which " +
            std::to_string(failed.changes.size()) + " are not the usual ones";
    const auto left = std::ranges::count(found.changes, ',') + !found.changes.empty();
    text += (left == 0 ? "; it fails without them" : "; it fails with " + std::to_string(left) + " of them");
    text += "\n  again, in this process: FORKJOIN_SCHEDULE=" + std::to_string(found.seed) + ":" + found.changes +
            "\n  what happens there, step by step: FORKJOIN_TRACE=FILE besides, then forkjoin-trace page FILE\n";
  } else {
    text +=
        "  the same seed gave another course, so the program depends on something besides its schedule: a clock, an "
        "address, a file, a random number, a thread of its own\n";
  }
  std::fputs(text.c_str(), stderr);
}

}  // namespace

exploration explore(explored_program program, unsigned schedules, const options& wanted) {
  if (current_worker())
    throw std::logic_error("fj::explore: called by code that runs in a runtime; call it from outside");
  if (os::turns::mine())
    throw std::logic_error(
        "fj::explore: a runtime that this thread has made takes part in a schedule, as FORKJOIN_SCHEDULE has it for "
        "each; call fj::explore before the first such runtime, or after its end");
  static_cast<void>(resolve(wanted));  // throws here what each copy would
  exploration found;
  options each = wanted;
  if (const replay given = schedule_from(wanted); given.seed != 0) {
    each.schedule = given;
    open_runtime(each).call(program);
    return {.schedules = 1, .different = 1};
  }
  explorer by(program, each);
  std::unordered_set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    const course seen = by.run(seed);
    ++found.schedules;
    found.different += hashes.insert(seen.hash).second;
    const bool asks_again = seed == 1 || seen.failed;
    if (!asks_again) continue;
    const course again = by.run(seed);
    found.repeats = again.hash == seen.hash && again.kind == seen.kind;
    if (found.repeats && !seen.failed) continue;
    found.seed = seed;
    found.why = seen.failed ? seen.why : again.failed ? again.why : "its course is not the same each time";
    if (found.repeats && seen.has_all_changes) found.changes = text_of(shortened(by, seed, seen));
    print(found, seen, seen.error_output);
    return found;
  }
  return found;
}

}}}  // namespace fj::v0_4::detail
