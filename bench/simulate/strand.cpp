// What a strand does: it works, forks and joins as its kernel says, and calls the runtime's rules where the compiled
// code of a fork does. And the stacks that strands run on.
#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "bench/simulate/simulation.hpp"

#include "bench/simulate/analysis.hpp"

namespace simulate {

namespace {

deque& active(worker& m) noexcept { return *m.proc->active.load(std::memory_order_relaxed); }

}  // namespace

frame& simulation::enter(fiber& g, const node& self, caller by) {
  frame& f = g.enter(self, by);
  result_.deepest_stack = std::max<std::uint64_t>(result_.deepest_stack, g.depth());
  result_.peak_frames = std::max(result_.peak_frames, ++frames_);
  if (chosen_.keep_order) result_.order = followed_by(result_.order, self);
  return f;
}

void simulation::leave_frame(fiber& g) noexcept {
  g.leave();
  --frames_;
}

fiber* simulation::switch_to(worker& m, fiber& f) noexcept {
  m.works = true;
  active(m).open(f.whose);
  m.clock += f.to_go_on;
  m.running = &f;
  fiber* next = nullptr;
  or_stop([&] { next = run_strand(m); });
  m.running = nullptr;
  m.works = false;
  time_.await_turn();
  return next;
}

// Returns what its worker runs next, when the strand has left its stack.
fiber* simulation::run_strand(worker& m) {
  picoseconds alone_until = time_.alone_until();
  for (;;) {
    if (m.clock > alone_until) {
      m.alone = false;
      time_.await_turn();
      alone_until = time_.alone_until();
    }
    frame& f = m.running->top();
    m.alone = true;
    switch (f.now) {
      // What no other worker sees.
      case stage::next:
        next_step(m, f);
        continue;
      case stage::call:
        f.now = stage::next;
        enter(*m.running, f.other, caller::plain);
        continue;
      case stage::push:
        push(m, f);
        continue;
      case stage::pop:
        if (active(m).pop(f)) {
          run_other(m, f);
        } else {
          m.clock += time_.price.slow_pop;
          f.now = stage::pop_slow;
        }
        continue;
      case stage::end:
        if (f.by == caller::outside) break;
        leave_frame(*m.running);
        continue;
      default:
        break;
    }
    // What others see, or what depends on them.
    m.alone = false;
    time_.await_turn();
    switch (f.now) {
      case stage::push_slow:
        owner_steps::answer_request(m, active(m), nullptr);
        run_here(m, f);
        break;
      case stage::pop_slow:
        pop_slow(m, f);
        break;
      case stage::join:
        join(m, f);
        break;
      case stage::leave:
        f.now = stage::join;
        m.running->to_go_on = time_.price.resume;
        return (f.iterations > 0 ? f.all.wait() : f.joined.wait(*m.running)) ? nullptr
                                                                             : m.running;  // else the thief was faster
      case stage::arrive: {
        const bool on_top = f.by == caller::on_top;
        fiber* const owner = arrive(m, f);
        if (!on_top) return owner;
        if (owner) dispatcher_.ready(*owner);
        break;
      }
      default:
        result_.time = m.clock;
        over_ = true;
        time_.stop();
    }
    alone_until = time_.alone_until();
  }
}

bool simulation::forks_last_first(worker& m) noexcept {
  if (chosen_.steals.order != order::adaptive) return chosen_.steals.order == order::last_child_first;
  adaptive_state& a = m.proc->adaptive;
  if (++a.forks >= chosen_.adapts.interval) {
    a.helps_first = a.stolen - std::exchange(a.stolen_before, a.stolen) >= chosen_.adapts.thefts;
    a.forks = 0;
  }
  return a.helps_first ||
         2 * static_cast<double>(m.running->depth()) * chosen_.cost.frame_bytes > chosen_.cost.stack_bytes;
}

void simulation::next_step(worker& m, frame& f) {
  kernel_.at(f.self, f.phase++, step_);
  m.clock += step_.work;
  result_.worked += step_.work;
  switch (step_.follows) {
    case then::end:
      f.now = stage::end;
      if (f.by == caller::thief || f.by == caller::on_top) {
        m.clock += time_.price.arrive;
        f.now = stage::arrive;
      }
      break;
    case then::call:
      f.other = step_.left;
      f.now = stage::call;
      break;
    case then::fork: {
      m.clock += time_.price.fork;
      f.parts = step_.parts;
      const bool right_here = f.parts.size == 0 && forks_last_first(m);
      f.first = right_here ? step_.right : step_.left;
      f.other = right_here ? step_.left : step_.right;
      begin_sections(f);
      f.iterations = chosen_.steals == policy::continuations ? step_.iterations : 0;
      f.now = stage::push;
      break;
    }
  }
}

void simulation::push(worker& m, frame& f) {
  f.waited = false;
  f.thiefs_proc = frame::no_proc;
  f.owners_proc = m.proc->index;
  f.waits = nullptr;
  if (f.iterations > 0) std::construct_at(&f.all);
  const bool attend = active(m).push(f, deque::name_of(f));
  result_.deepest_deque = std::max<std::uint64_t>(result_.deepest_deque, ++m.running->forks);
  if (!attend) return run_here(m, f);
  m.clock += time_.price.slow_push;
  f.now = stage::push_slow;
}

void simulation::pop_slow(worker& m, frame& f) {
  if (owner_steps::take_back(m, active(m), f)) {
    run_other(m, f);
  } else {
    f.now = stage::join;
  }
}

// As block_tree in forkjoin/loops/ordered_parts.hpp, if the fork is the first of a loop.
void simulation::begin_sections(frame& f) {
  if (f.levels != 0 && f.loop != &f) return;  // one of those that stand for no parts
  f.levels = 0;
  if (f.parts.size == 0 || !f.parts.are_all()) return;
  f.count = sections::of_tree(f.parts.size, chosen_.procs);
  f.levels = static_cast<unsigned>(std::bit_width(f.count)) - 1;
  f.loop = &f;
  f.claims.emplace(f.count, chosen_.procs);
}

// A side of a fork.
frame& simulation::enter_side(const worker& m, fiber& g, frame& f, bool other, caller by) {
  if (f.levels == 1) return enter_section(m, g, *f.loop, by);
  if (f.levels == 0) run_part(m, f.parts, other);
  frame& entered = enter(g, other ? f.other : f.first, by);
  if (f.levels != 0) {
    entered.levels = f.levels - 1;
    entered.loop = f.loop;
  }
  return entered;
}

// That which the P claims.
frame& simulation::enter_section(const worker& m, fiber& g, frame& loop, caller by) {
  const unsigned number = loop.claims->claim(m.proc->index);
  const step first{.left = loop.first, .right = loop.other, .parts = loop.parts};
  const step fork = fork_of_section(kernel_, first, number, loop.count);
  const bool right = number % 2 != 0;
  run_part(m, fork.parts, right);
  return enter(g, right ? fork.right : fork.left, by);
}

// Counts whether the P ran that side of a fork in the latest loop of as many parts, too, if it is one part.
void simulation::run_part(const worker& m, const loop_parts& parts, bool right) {
  const std::uint32_t number = right ? parts.middle : parts.first;
  if ((right ? parts.last : parts.middle) - number != 1) return;
  std::vector<unsigned>& ran_on = parts_[parts.size];
  ran_on.resize(parts.size, frame::no_proc);
  const unsigned before = std::exchange(ran_on[number], m.proc->index);
  result_.repeated += before != frame::no_proc;
  result_.returned += before == m.proc->index;
}

void simulation::run_here(worker& m, frame& f) {
  f.now = stage::pop;
  enter_side(m, *m.running, f, false, caller::first);
}

void simulation::run_other(worker& m, frame& f) {
  --m.running->forks;
  f.now = stage::next;
  frame& other = enter_side(m, *m.running, f, true, caller::second);
  if (f.iterations > 1) other.home = f.home;
}

void simulation::run_on_top(worker& m, frame& record) {
  m.clock += price_of_theft(m, record);
  ++result_.deviations;
  record.thiefs_proc = m.proc->index;
  enter_side(m, *m.running, record, true, caller::on_top).stolen = &record;
}

// As in runtime/strand/on_top.cpp.
stolen_record simulation::find_on_top(worker& m, frame& f) noexcept {
  const auto size = static_cast<std::uint64_t>(chosen_.cost.stack_bytes);
  const auto used = static_cast<std::uint64_t>(static_cast<double>(m.running->depth()) * chosen_.cost.frame_bytes);
  const auto by = [&]<class Rule>(Rule) {
    return work_on_top::find<Rule>(m, &whole_, f.joined, [&f] { return f.thiefs_proc; }, used, size);
  };
  switch (chosen_.steals.join) {
    case join::run_on_top:
      return by(fj::detail::run_on_top_rule());
    case join::leapfrog:
      return by(fj::detail::leapfrog_rule());
    case join::own:
      return by(fj::detail::join_rule());
    default:
      return by(fj::detail::leave_stack_rule());
  }
}

// Whether all that was stolen from the frame has been done. Of a home also tells thieves how many turns the strand
// waits for.
bool simulation::is_joined(frame& f) noexcept {
  if (f.iterations == 0) return f.joined.finished();
  if (f.waits) {  // it has left its stack, and was resumed
    f.waits = nullptr;
    f.all.go_on();
    return true;
  }
  f.all.stolen(f.iterations);
  return f.all.all_arrived();
}

void simulation::join(worker& m, frame& f) {
  if (f.home) return arrive_early(m, f.iterations);
  if (is_joined(f)) return go_on(m, f);
  if (!f.waited) ++m.count().join_waits;
  f.waited = true;
  if (chosen_.steals.join != join::leave_stack) {
    m.works = false;
    const stolen_record got = find_on_top(m, f);
    m.works = true;
    if (got.record) return run_on_top(m, static_cast<frame&>(*got.record));
    if (f.joined.finished()) return go_on(m, f);
  }
  ++m.count().suspensions;
  m.clock += time_.price.suspend;
  f.waits = m.running;
  f.now = stage::leave;
}

void simulation::go_on(worker& m, frame& f) {
  --m.running->forks;
  result_.deviations += !std::exchange(m.running->follows, false);
  if (f.waited) {
    const picoseconds late = m.clock - f.arrived;
    result_.late += late;
    result_.most_late = std::max(result_.most_late, late);
  }
  owner_steps::after_stolen_join(active(m));
  if (f.iterations == 0) std::construct_at(&f.joined, &frame::nothing);
  f.now = stage::next;
}

// A thief's own rest was stolen, and the iterations in it with it: it answers for the others.
void simulation::arrive_early(worker& m, std::uint32_t iterations_left) {
  fiber& g = *m.running;
  while (g.depth() > 1) leave_frame(g);
  g.top().answers -= iterations_left;
  g.top().now = stage::arrive;
  m.clock += time_.price.arrive;
}

// The end of what was stolen. Returns the strand that waited for it.
fiber* simulation::arrive(worker& m, frame& f) {
  frame& at = *f.stolen;
  at.arrived = m.clock;
  join_waiter* waits = nullptr;
  if (f.answers == 0) {
    waits = at.joined.arrive(outcome::returned);
  } else if (at.all.arrive(f.answers)) {
    waits = at.waits;
  }
  auto* const owner = static_cast<fiber*>(waits);
  if (owner && is_far(m, at)) owner->to_go_on = time_.price.far_resume;
  const bool on_top = f.by == caller::on_top;
  // What was stolen is the later side in the policy's order on one P. In a loop the last that arrives may be any
  // iteration.
  if (owner) owner->follows = !on_top && f.answers == 0;
  leave_frame(*m.running);
  if (owner) ++m.count().resumptions;
  if (on_top) return owner;
  if (!m.proc->stacks.push(*m.running)) give_stack(*m.running);
  if (!owner) m.clock += time_.price.ended;
  return owner;
}

fiber* simulation::begin(worker& m, const stolen_record& what) noexcept {
  fiber& thief = m.proc->stacks.pop();
  frame& record = static_cast<frame&>(*what.record);
  thief.whose = what.whose;
  thief.forks = 0;
  thief.to_go_on = price_of_theft(m, record);
  ++result_.deviations;
  record.thiefs_proc = m.proc->index;
  or_stop([&] {
    frame& stolen = enter_side(m, thief, record, true, caller::thief);
    stolen.answers = record.iterations;
    stolen.stolen = record.iterations > 0 && record.home ? record.home : &record;
    if (record.iterations > 1) stolen.home = stolen.stolen;
  });
  return &thief;
}

picoseconds simulation::price_of_theft(const worker& m, const frame& record) noexcept {
  const bool far = is_far(m, record);
  result_.far_steals += far;
  ++processors_[record.owners_proc].adaptive.stolen;
  return far ? time_.price.far_steal : time_.price.steal;
}

bool simulation::is_far(const worker& m, const frame& of) noexcept {
  return m.proc->node != processors_[of.owners_proc].node;
}

// As in runtime/sched/switch.cpp.
bool simulation::prepare_stack(worker& m) noexcept {
  if (!m.running && pool_seems_empty()) release_stacks(m, 1);
  if (m.proc->stacks.empty()) or_stop([&] { m.proc->stacks.push(take_stack()); });
  return true;
}

void simulation::release_stacks(worker& m, std::size_t but) noexcept {
  while (m.proc->stacks.count() > but) give_stack(m.proc->stacks.pop());
}

bool simulation::pool_seems_empty() const noexcept {
  timeline::touch(&pool_, line_use::load);
  return free_fibers_.empty();
}

fiber& simulation::take_stack() {
  const fj::detail::locked lock(pool_);
  result_.peak_stacks = std::max(result_.peak_stacks, ++stacks_);
  if (free_fibers_.empty()) {
    fibers_.push_back(std::make_unique<fiber>());
    free_fibers_.reserve(fibers_.size());  // so that giving back cannot fail
    fibers_.back()->whose = &whole_;
    return *fibers_.back();
  }
  fiber* const f = free_fibers_.back();
  free_fibers_.pop_back();
  return *f;
}

void simulation::give_stack(fiber& idle) noexcept {
  const fj::detail::locked lock(pool_);
  --stacks_;
  free_fibers_.push_back(&idle);
}

}  // namespace simulate

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

simulate::simulation& simulation_of(worker& m) noexcept { return static_cast<simulate::simulation&>(m.sched()); }

}  // namespace

bool scheduler_hooks::prepare_stack(worker& m) noexcept { return simulation_of(m).prepare_stack(m); }
void scheduler_hooks::release_all_stacks(worker& m, std::size_t but) noexcept {
  simulation_of(m).release_stacks(m, but);
}
fiber* scheduler_hooks::begin(worker& m, const stolen_record& what) noexcept { return simulation_of(m).begin(m, what); }
fiber* scheduler_hooks::switch_to(worker& m, fiber& f) noexcept { return simulation_of(m).switch_to(m, f); }

}}}  // namespace fj::v0_4::detail
