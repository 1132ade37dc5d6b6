#include "runtime/entry.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "runtime/execute.hpp"
#include "runtime/find_work.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/run.hpp"
#include "runtime/settings.hpp"
#include "runtime/thread_main.hpp"

namespace fj::detail {

constinit deque_with_slots<std::size_t{1} << 16> outside;

namespace {

bool report_overflow(const void* address) noexcept {
  const worker* const m = current_worker();
  const fiber* const f = m ? static_cast<fiber*>(m->running) : nullptr;
  if (!f) return false;
  const auto* const at = static_cast<const std::byte*>(address);
  if (at < f->mapping || at >= f->stack_bottom()) return false;
  os::print_error("forkjoin: stack overflow in fiber ");
  os::print_error(f->number);
  os::print_error(f->stolen ? " (a stolen branch): its stack of " : " (which runs the job itself): its stack of ");
  os::print_error(f->stack_size());
  os::print_error(" bytes is used up. Raise fj::options::stack_size.\n");
  return true;
}

// What a scheduler needs around it that is not scheduling.
struct instance : scheduler {
  instance(const options& wanted, unsigned generation)
      : scheduler(resolve(wanted), &thread_main), prints(wanted.stats || asked_for_stats()), made_in(generation) {}

  static bool asked_for_stats() noexcept {
    const char* const wish = std::getenv("FORKJOIN_STATS");
    return wish && std::strcmp(wish, "0") != 0 && *wish;
  }

  const bool prints;
  const unsigned made_in;  // process_generation
};

void print_stats(const scheduler& s) {
  const stats read = stats_of(s);
  std::string text = "forkjoin: stacks " + std::to_string(read.stacks_in_use) + " in use, " +
                     std::to_string(read.stacks_peak) +
                     " at peak\n"
                     "   P     steals suspensions resumptions join_waits  exposures publications slow_pushes  "
                     "slow_pops      parks    wakeups\n";
  const auto line = [&text](const char* name, const counters& c) {
    char row[256];
    const auto n = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::snprintf(row, sizeof(row), "%4s %10llu %11llu %11llu %10llu %10llu %12llu %11llu %10llu %10llu %10llu\n", name,
                  n(c.steals), n(c.suspensions), n(c.resumptions), n(c.join_waits), n(c.exposures), n(c.publications),
                  n(c.slow_pushes), n(c.slow_pops), n(c.parks), n(c.wakeups));
    text += row;
  };
  for (std::size_t i = 0; i < read.procs.size(); ++i) line(std::to_string(i).c_str(), read.procs[i]);
  line("all", read.total());
  os::print_error(text.c_str());
}

}  // namespace

scheduler* open_scheduler(const options& wanted) {
  os::report_memory_faults(&report_overflow);
  return new instance(wanted, os::process_generation());
}

void close_scheduler(scheduler* s) noexcept {
  auto* const closing = static_cast<instance*>(s);
  if (is_inside(*s)) {
    os::print_error("forkjoin: a runtime was destroyed by code that runs in it; destroy it where run was called.\n");
    std::abort();
  }
  if (closing->prints) print_stats(*s);
  delete closing;
}

scheduler& default_scheduler() {
  // Never deleted: code that runs while the program ends may still use it. Its threads sleep.
  static scheduler& s = [&]() -> scheduler& {
    static instance* made = nullptr;
    made = static_cast<instance*>(open_scheduler({}));
    if (made->prints) std::atexit([] { print_stats(*made); });
    return *made;
  }();
  return s;
}

void run_in(scheduler& s, root& job) {
  if (static_cast<instance&>(s).made_in != os::process_generation())
    throw std::logic_error(
        "forkjoin: this runtime was made before fork(2), and its threads stayed in the parent process; make a new "
        "fj::runtime in the child");
  run(s, job);
}

bool is_inside(const scheduler& s) noexcept { return current_scheduler() == &s; }

bool is_inside() noexcept { return current_worker() != nullptr; }

scheduler* current_scheduler() noexcept {
  const worker* const m = current_worker();
  return m ? &m->home() : nullptr;
}

int current_proc() noexcept {
  const worker* const m = current_worker();
  return m && m->held ? static_cast<int>(m->held->index) : -1;
}

unsigned procs_of(const scheduler& s) noexcept { return s.chosen().procs; }

stats stats_of(const scheduler& s) {
  stats read;
  read.procs.reserve(procs_of(s));
  for (unsigned i = 0; i < procs_of(s); ++i) read.procs.push_back(s.count(i).read());
  read.stacks_in_use = s.stacks().in_use();
  read.stacks_peak = s.stacks().peak();
  return read;
}

bool hungry() noexcept {
  scheduler& s = current_worker()->home();
  return s.chosen().steal_every_fork || s.idleness().hungry();
}

bool push_slow() noexcept {
  deque& d = current_deque();
  if (&d == &outside.records) {
    d.forget();
    return false;
  }
  worker& m = *current_worker();
  ++m.count().slow_pushes;
  d.attend();
  if (d.full()) {
    // The record stays off the deque, which the pop to come cannot tell from one that nobody has stolen.
    const deque::index at = d.depth() - 1;
    const bool back = d.pop(at) || d.pop_slow(at);
    FORKJOIN_CHECK(back);
    static_cast<void>(back);
    return true;
  }
  // Nobody else's business when this is the only P.
  if (m.home().chosen().eager || m.home().idleness().hungry()) {
    if (d.publish()) ++m.count().publications;
    m.home().wake();
  }
  return true;
}

bool pop_slow(deque::index at) noexcept {
  deque& d = current_deque();
  if (&d == &outside.records) {
    d.forget();
    return false;
  }
  worker& m = *current_worker();
  if (m.home().chosen().steal_every_fork && d.is_public(at) && prepare_to_detach(m)) {
    d.push_back();
    return false;
  }
  if (!d.pop_slow(at)) return false;
  ++m.count().slow_pops;
  // The next fork shall be public at once if somebody waits for it, and cost nothing if not.
  if (m.home().idleness().hungry()) d.alarm();
  return true;
}

namespace {

void suspend_until_finished(join& stolen) noexcept {
  if (stolen.finished()) return;
  ++current_worker()->count().suspensions;
  leave(
      [](worker&, fiber& f, void* word) noexcept -> fiber* {
        // Not waiting after all: the thief was faster.
        return static_cast<join*>(word)->wait(f) ? nullptr : &f;
      },
      &stolen);
}

// Where a record was made to be stolen the strand is one deeper than it found it.
void level(deque::index at) noexcept {
  deque& d = current_deque();
  if (d.depth() != at) d.open(current_worker()->running->job, at);
}

}  // namespace

void join_slow(join& stolen, deque::index at) noexcept {
  if (&current_deque() == &outside.records) return;  // finished, and there is nothing to level
  suspend_until_finished(stolen);
  level(at);
}

void join_tasks_slow(join& stolen, deque::index at) noexcept {
  if (&current_deque() == &outside.records) return;
  if (!stolen.finished()) ++current_worker()->count().join_waits;
  while (!stolen.finished()) {
    worker& m = *current_worker();
    // What is ready cannot run on top, and a stack that is half full had better not grow by other people's work.
    const auto* const here = reinterpret_cast<const std::byte*>(&stolen);
    const bool deep = here < m.running->stack_bottom() + m.running->stack_size() / 2;
    if (deep || m.home().any_ready()) break;
    continuation* const record = steal_for_top(m, stolen);
    if (!record) break;
    outcome result;
    {
      const os::strand_on_top fresh(m.running->job->floats);
      result = record->joined.body()(*record);
    }
    join_waiter* const owner = record->joined.arrive(result);
    if (!owner) continue;
    worker& now = *current_worker();
    ++now.count().resumptions;
    now.home().ready(*static_cast<fiber*>(owner));
  }
  join_slow(stolen, at);
}

}  // namespace fj::detail
