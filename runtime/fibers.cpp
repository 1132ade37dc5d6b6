#include "runtime/fibers.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/os/function_names.hpp"
#include "runtime/sched/scheduler.hpp"
#include "runtime/wait/outside_threads.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// What several fibers do alike.
struct doing {
  std::string_view what = {}, file = {}, function = {};
  std::uint_least32_t line = 0;
  bool since_then = false, is_ready = false, is_urgent = false;
  auto operator<=>(const doing&) const = default;
};

std::string in_words(const doing& d) {
  if (d.is_ready) return d.is_urgent ? "urgent and ready, and wait for a P" : "ready, and wait for a P";
  std::string text = d.what.empty() ? "wait at a join" : "wait in " + std::string(d.what);
  if (d.line != 0)
    text += ", called by " + os::name_of(std::string(d.function)) + " at " + std::string(d.file) + ":" +
            std::to_string(d.line);
  if (d.since_then) text += ", for most of that time";
  if (d.is_urgent) text += "; urgent";
  return text;
}

struct those {
  std::size_t count = 0;
  std::vector<unsigned> first;
};

std::string numbers(const those& of) {
  std::string text = of.count == 1 ? "1 fiber (" : std::to_string(of.count) + " fibers (";
  for (std::size_t i = 0; i < of.first.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(of.first[i]);
  return text + (of.count > of.first.size() ? ", ...)" : ")");
}

}  // namespace

seen_waits see_waits(const scheduler& s) {
  seen_waits all;
  const auto look = [&all](const fiber& f) {
    if (f.state == fiber_state::waiting) all.emplace(&f, f.waits.version());
  };
  s.for_each_fiber(look);
  return all;
}

std::string describe_fibers(scheduler& s, const seen_waits* before) {
  constexpr std::size_t most_numbers = 4;
  std::map<doing, those> all;
  const auto look = [&](const fiber& f) {
    doing d;
    fiber_state state;
    std::uint32_t version = 0;
    do {
      version = f.waits.version();
      state = f.state;
      const char* const what = f.waits.what();
      d = what ? doing{what, f.waits.file(), f.waits.function(), f.waits.line()} : doing{};
    } while (!f.waits.is_still(version));
    if (state != fiber_state::waiting && state != fiber_state::runnable) return;
    if (state == fiber_state::runnable) d = {.is_ready = true};
    d.is_urgent = f.urgent;
    if (before && state == fiber_state::waiting) {
      const auto found = before->find(&f);
      d.since_then = found != before->end() && found->second == version;
    }
    those& others = all[d];
    if (++others.count <= most_numbers) others.first.push_back(f.number);
  };
  s.for_each_fiber(look);

  std::vector<std::string> procs(s.settings().procs, "idle");
  std::string outside;
  std::size_t callers = 0;
  s.threads().for_each([&](worker& m) {
    std::uint64_t sleep = 0;
    if (m.is_caller() && m.sleeps_for_good(sleep)) ++callers;
    const processor* const p = m.proc;
    const fiber* const f = m.runs;
    const unsigned number = f ? static_cast<unsigned>(f->number) : 0;
    const std::string does = f ? "runs fiber " + std::to_string(number) : "looks for work";
    if (p) {
      procs[p->index] = does;
    } else if (f) {
      outside += "  a thread makes a blocking call of fiber " + std::to_string(number) + "\n";
    }
  });
  std::string text =
      "forkjoin: a runtime with " + std::to_string(procs.size()) + " P" +
      (s.procs_in_use() < procs.size() ? ", " + std::to_string(s.procs_in_use()) + " of them in use" : "") + "\n";
  for (std::size_t i = 0; i < procs.size(); ++i) text += "  P " + std::to_string(i) + ": " + procs[i] + "\n";
  text += outside;
  if (callers > 0)
    text += "  " + std::to_string(callers) + (callers == 1 ? " thread waits" : " threads wait") + " in run\n";
  for (const auto& [what, which] : all) text += "  " + numbers(which) + ": " + in_words(what) + "\n";
  return text;
}

void add_fibers(fiber_counts& to, const scheduler& s) noexcept {
  const auto look = [&to](const fiber& f) {
    switch (f.state) {
      case fiber_state::free:
        return;
      case fiber_state::running:
      case fiber_state::blocking:
      case fiber_state::forked:
        ++to.running;
        return;
      case fiber_state::runnable:
        ++to.ready;
        return;
      case fiber_state::waiting:
        ++to.waiting;
        return;
    }
  };
  s.for_each_fiber(look);
}

std::string describe_sleepers_outside() {
  std::string text;
  outside_sleepers& sleepers = sleepers_outside();
  const locked lock(sleepers.mutex);
  for (const outside_sleeper* each = sleepers.all.first(); each; each = sleepers.all.after(*each)) {
    const wait_place& p = each->place;
    text += "  a thread outside of any runtime: " +
            in_words({p.what ? p.what : "", p.at.file_name(), p.at.function_name(), p.at.line()}) + "\n";
  }
  return text;
}

}}}  // namespace fj::v0_4::detail
