#include "bench/steps/stage.hpp"

#include <algorithm>
#include <utility>

#include "runtime/fork/current.hpp"
#include "runtime/sched/scheduler.hpp"

namespace steps {

using namespace fj::detail;

namespace {

stage* of_run = nullptr;

}  // namespace

stage& the_stage() noexcept { return *of_run; }
void set_stage(stage& s) noexcept { of_run = &s; }

// A strand at a join runs its own children, which it takes back from its deque. What it runs once it has counted the
// join as one that waits is other work, on top of its stack.
void stage::note_wait_on_top(const call& below) {
  const auto found = at_join_.find(&below);
  if (found == at_join_.end() || found->second.waits ||
      current_worker()->count().join_waits.read() == found->second.waits_before)
    return;
  found->second.waits = true;
  waits_on_top_.push_back("waits at the join of " + below.name());
}

void stage::call_begins(call& c) {
  auto& calls = calls_[current_fiber()];
  if (!calls.empty()) note_wait_on_top(*calls.back());
  calls.push_back(&c);
  events_.push_back("calls " + c.name());
}

void stage::call_ends(const std::string& how) { events_.push_back(how); }

void stage::call_joins(const call& c) {
  at_join_[&c] = {.number = ++joins_, .waits_before = current_worker()->count().join_waits.read()};
  silent_event_ = "comes to the join of " + c.name();
}

void stage::call_has_joined(const call& c) { at_join_.erase(&c); }

void stage::call_is_over(const call& c) {
  silent_event_ = "is done with " + c.name();
  auto& calls = calls_[current_fiber()];
  if (!calls.empty() && calls.back() == &c) calls.pop_back();
  // Waits of what ran on top of it are not its own.
  if (const auto below = calls.empty() ? at_join_.end() : at_join_.find(calls.back()); below != at_join_.end())
    below->second.waits_before = current_worker()->count().join_waits.read();
}

const record* stage::newest_record() const {
  const record* newest = nullptr;
  current_deque().for_thieves().for_each_public([&](const record& r) { newest = &r; });
  return newest;
}

void stage::name_record(const record* r, const std::string& name) {
  pushed_[r] = {++pushes_, name};
  events_.push_back("pushes " + name);
}

void stage::note_thread() {
  const os::turns::taker* const self = os::turns::self();
  if (!self) return;
  thread_state& mine = threads_[self->number];
  mine = {current_worker(), current_fiber()};
  if (mine.worker) runtime_ = &mine.worker->sched();
  if (mine.worker && mine.worker->proc && mine.runs) ran_on_[mine.runs] = mine.worker->proc->index;
}

unsigned stage::proc_of(unsigned thread) const {
  const auto found = threads_.find(thread);
  if (found == threads_.end() || !found->second.worker || !found->second.worker->proc) return none;
  return found->second.worker->proc->index;
}

bool stage::runs_strand(unsigned thread) const { return threads_.at(thread).runs != nullptr; }

bool stage::anything_to_take() const {
  bool any = runtime_->dispatcher().any_ready();
  runtime_->all().for_each_deque([&](deque_thief& d) { any = any || d.has_public(); });
  return any;
}

std::vector<std::string> stage::calls_of(const fiber* f) const {
  std::vector<std::string> names;
  if (const auto found = calls_.find(f); found != calls_.end())
    for (const call* const c : found->second) names.push_back(c->shown());
  return names;
}

// A thief takes the oldest record of another deque, and an owner the newest of its own.
void stage::note_records(unsigned acting, std::vector<std::string>& events) {
  unsigned proc = 0;
  runtime_->all().for_each_deque([&](deque_thief& d) {
    records now;
    d.for_each_public([&](const record& r) { now.push_back(pushed_[&r]); });
    if (deques_.size() <= proc) deques_.resize(proc + 1);
    for (const pushed_record& before : deques_[proc]) {
      if (std::ranges::find(now, before) != now.end()) continue;
      events.push_back(proc == acting ? "takes " + before.name + " back from its deque"
                                      : "steals " + before.name + " from T" + std::to_string(proc + 1));
    }
    deques_[proc++] = std::move(now);
  });
}

// In the order in which they came to their joins.
std::vector<stage::wait> stage::waits_now() const {
  std::vector<wait> all;
  for (const auto& [f, calls] : calls_)
    if (!calls.empty() && f->state == fiber_state::waiting)
      all.push_back({f, at_join_.at(calls.back()).number, at_join_.at(calls.back()).waits, calls.back()->name()});
  std::ranges::sort(all, {}, &wait::join);
  return all;
}

stage::change stage::look(unsigned acting) {
  change seen;
  seen.events.swap(waits_on_top_);
  note_records(acting, seen.events);
  seen.now.resize(deques_.size());
  for (std::size_t proc = 0; proc != deques_.size(); ++proc)
    for (const pushed_record& r : deques_[proc]) seen.now[proc].deque.push_back(r.name);
  for (const auto& [number, state] : threads_)
    if (const unsigned proc = proc_of(number); proc != none && state.runs) seen.now[proc].stack = calls_of(state.runs);
  std::vector<wait> now = waits_now();
  for (const wait& w : now) seen.now[ran_on_.at(w.strand)].waiting.push_back(calls_of(w.strand));
  // A strand that waits makes room for one that goes on.
  std::vector<std::string> waits, goes_on;
  for (const wait& w : now)
    if (std::ranges::find(waiting_, w) == waiting_.end())
      waits.push_back((w.was_told ? "leaves its stack at the join of " : "waits at the join of ") + w.of);
  for (const wait& w : waiting_)
    if (std::ranges::find(now, w) == now.end()) goes_on.push_back("goes on after the join of " + w.of);
  const auto add = [&](const auto& events) { seen.events.insert(seen.events.end(), events.begin(), events.end()); };
  if (goes_on.empty()) {
    add(events_);
    add(waits);
  } else {
    add(waits);
    add(goes_on);
    add(events_);
  }
  if (seen.events.empty() && !silent_event_.empty()) seen.events.push_back(silent_event_);
  silent_event_.clear();
  events_.clear();
  waiting_ = std::move(now);
  return seen;
}

}  // namespace steps
