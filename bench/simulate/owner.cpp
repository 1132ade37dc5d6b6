// What a strand does: work, fork, join. runtime/slow/fork_slow.cpp, runtime/slow/tasks.cpp and runtime/schedule/execute.cpp have the original.
#include <algorithm>
#include <memory>

#include "bench/simulate/analysis.hpp"
#include "bench/simulate/simulation.hpp"

namespace simulate {

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

void simulation::switch_to(processor& p, fiber& g) {
  p.active->open(nullptr);
  p.running = &g;
  p.now = doing::running;
}

// Up to the time at which somebody else must act first.
void simulation::run_strand(processor& p) {
  const auto limit = [this] { return chosen_.runs_ahead ? agenda_.next_look() : agenda_.next(); };
  picoseconds alone_until = limit();
  for (;;) {
    if (p.clock > alone_until) return later(p);
    frame& f = p.running->top();
    switch (f.now) {
      // What nobody else sees.
      case stage::next:
        next_step(p, f);
        continue;
      case stage::call:
        f.now = stage::next;
        enter(*p.running, f.other, caller::plain);
        continue;
      case stage::push:
        push(p, f);
        continue;
      case stage::pop:
        if (p.active->pop(f)) {
          run_other(p, f);
        } else {
          p.clock += price_.slow_pop;
          f.now = stage::pop_slow;
        }
        continue;
      case stage::end:
        if (f.by == caller::outside) break;
        leave_frame(*p.running);
        continue;
      default:
        break;
    }
    // What others see, or what depends on them.
    if (!agenda_.may_act(p.clock, p.index)) return later(p);
    bool goes_on = true;
    switch (f.now) {
      case stage::push_slow:
        push_slow(p, f);
        break;
      case stage::pop_slow:
        goes_on = pop_slow(p, f);
        break;
      case stage::join:
        goes_on = join(p, f);
        break;
      case stage::leave:
        goes_on = leave(p, f);
        break;
      case stage::arrive:
        goes_on = arrive(p, f);
        break;
      default:  // the end of the job
        result_.time = p.clock;
        over_ = true;
        return;
    }
    if (!goes_on) return;
    alone_until = limit();
  }
}

void simulation::next_step(processor& p, frame& f) {
  kernel_.at(f.self, f.phase++, step_);
  p.clock += step_.work;
  p.worked += step_.work;
  switch (step_.follows) {
    case then::end:
      f.now = stage::end;
      if (f.by == caller::thief || f.by == caller::on_top) {
        p.clock += price_.arrive;
        f.now = stage::arrive;
      }
      break;
    case then::call:
      f.other = step_.left;
      f.now = stage::call;
      break;
    case then::fork: {
      p.clock += price_.fork;
      const bool in_loop = step_.parts.size > 0;
      const bool right_here =
          in_loop ? step_.parts.right_is_for(p.index, chosen_.procs) : chosen_.steals == policy::tasks;
      f.first = right_here ? step_.right : step_.left;
      f.other = right_here ? step_.left : step_.right;
      f.now = stage::push;
      break;
    }
  }
}

void simulation::push(processor& p, frame& f) {
  f.waited = false;
  const bool attend = p.active->push(f, deque::name_of(f));
  result_.deepest_deque = std::max<std::uint64_t>(result_.deepest_deque, ++p.running->forks);
  if (!attend) return run_here(p, f);
  p.clock += price_.slow_push;
  f.now = stage::push_slow;
}

// fork_slow.cpp, push_slow
void simulation::push_slow(processor& p, frame& f) {
  deque& d = *p.active;
  ++p.count.slow_pushes;
  d.attend();
  const bool asked = parking_.hungry();
  if (chosen_.procs > 1 && (asked || !d.has_public())) {
    if (d.publish()) {
      p.published_at = p.clock;
      ++p.count.publications;
    }
    if (asked) wake(p);
  }
  run_here(p, f);
}

// fork_slow.cpp, pop_slow
bool simulation::pop_slow(processor& p, frame& f) {
  if (exposer_ && std::find(exposer_->begun.begin(), exposer_->begun.end(), &p) != exposer_->begun.end()) {
    p.now = doing::held_up;  // until end_expose
    return false;
  }
  if (!p.active->pop_slow(f)) {
    f.now = stage::join;
    return true;
  }
  ++p.count.slow_pops;
  if (parking_.hungry() || p.clock - p.published_at > long_public_time) p.active->alarm();
  run_other(p, f);
  return true;
}

void simulation::run_here(processor& p, frame& f) {
  f.now = stage::pop;
  enter(*p.running, f.first, caller::first);
}

void simulation::run_other(processor& p, frame& f) {
  --p.running->forks;
  f.now = stage::next;
  enter(*p.running, f.other, caller::second);
}

// fork_slow.cpp, join_slow; tasks.cpp, join_tasks_slow
bool simulation::join(processor& p, frame& f) {
  if (f.joined.finished()) {
    --p.running->forks;
    p.active->alarm();
    std::construct_at(&f.joined, &frame::nothing);
    f.now = stage::next;
    return true;
  }
  if (chosen_.steals == policy::tasks) {
    if (!f.waited) ++p.count.join_waits;
    const bool looks = p.running->depth() < deep_ && ready_.empty();
    f.waited = true;
    if (looks) {
      p.now = doing::looking_on_top;
      start_spinning(p);
      begin_search(p);
      later(p);
      return false;
    }
  }
  ++p.count.suspensions;
  p.clock += price_.suspend;
  f.now = stage::leave;
  return true;
}

// execute.cpp, switch_to, after the strand has left its stack
bool simulation::leave(processor& p, frame& f) {
  fiber& g = *p.running;
  f.now = stage::join;
  if (!f.joined.wait(g)) return true;  // the thief was faster
  p.running = nullptr;
  find_work(p);
  return false;
}

// execute.cpp, first_frame and ended; for what ran on top of a join: tasks.cpp, join_tasks_slow
bool simulation::arrive(processor& p, frame& f) {
  auto* owner = static_cast<fiber*>(f.stolen->joined.arrive(outcome::returned));
  fiber& g = *p.running;
  const bool on_top = f.by == caller::on_top;
  leave_frame(g);
  if (owner) ++p.count.resumptions;
  if (on_top) {
    if (owner) ready(p, *owner);
    return true;
  }
  p.running = nullptr;
  give_stack(&g);
  if (p.stacks < stacks_at_hand) {
    ++p.stacks;
  } else {
    --stacks_;
  }
  if (!owner) {
    p.clock += price_.ended;
    p.now = doing::starting;
    later(p);
    return false;
  }
  if (++p.tick % ticks_per_look == 0) {
    if (fiber* const first = take_ready()) {
      ready(p, *owner);
      owner = first;
    }
  }
  p.clock += price_.resume;
  switch_to(p, *owner);
  return true;
}

}  // namespace simulate
