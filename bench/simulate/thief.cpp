// How workers look for work. runtime/schedule/find_work.cpp has the original, runtime/schedule/scheduler.cpp that of expose.
#include <algorithm>

#include "bench/simulate/simulation.hpp"

namespace simulate {

void simulation::find_work(processor& p) {
  p.rounds = 0;
  if (p.clock - p.stolen_at > short_work_time) return wait_for_turn(p);
  p.clock += short_work_time;
  p.now = doing::pausing;
  later(p);
}

void simulation::wait_for_turn(processor& p) {
  if (fiber* const f = take_ready()) {
    stop_spinning(p);
    p.clock += price_.resume;
    switch_to(p, *f);
  } else if (p.spinning || parking_.may_spin(static_cast<int>(chosen_.procs))) {
    start_spinning(p);
    p.now = doing::looking;
    begin_search(p);
  } else if (++p.rounds < top_rounds) {
    p.clock += price_.round;
    p.now = doing::waiting;
  } else {
    // A look later, so that nobody who runs ahead misses the alarm.
    p.clock += price_.look;
    p.now = doing::giving_up;
  }
  later(p);
}

void simulation::begin_search(processor& p) {
  if (p.stacks == 0) {
    p.stacks = 1;
    count_stack();
  }
  p.rounds = 0;
  p.nothing_since = p.something_since = 0;
  begin_round(p);
}

void simulation::begin_round(processor& p) {
  p.at = p.dice.below(chosen_.procs);
  p.step = steps_[p.dice.below(static_cast<std::uint32_t>(steps_.size()))];
  p.visited = 0;
  p.seen = false;
  p.clock += price_.look;
}

// One round, deque by deque, up to the time at which somebody else must act first.
void simulation::look_around(processor& p) {
  for (; agenda_.may_look(p.clock, p.index); p.clock += price_.look) {
    deque& victim = *processors_[p.at]->active;
    if (victim.has_public()) {
      p.seen = true;
      if (deque::record* const record = victim.steal(nullptr).record) {
        ++p.count.steals;
        if (!victim.has_public() && !victim.looks_empty()) victim.alarm();
        frame& stolen = static_cast<frame&>(*record);
        return p.now == doing::looking ? begin_stolen(p, stolen) : run_on_top(p, stolen);
      }
    } else {
      p.seen |= !victim.looks_empty();
      if (!victim.alarmed()) victim.alarm();
    }
    p.at = (p.at + p.step) % chosen_.procs;
    if (++p.visited == chosen_.procs) return p.now == doing::looking ? end_round(p) : end_round_on_top(p);
  }
  later(p);
}

void simulation::begin_stolen(processor& p, frame& record) {
  fiber& thief = *take_stack();
  --p.stacks;
  thief.forks = 0;
  enter(thief, record.other, caller::thief).stolen = &record;
  p.stolen_at = p.clock;
  stop_spinning(p);
  p.clock += price_.steal;
  switch_to(p, thief);
  later(p);
}

void simulation::run_on_top(processor& p, frame& record) {
  enter(*p.running, record.other, caller::on_top).stolen = &record;
  stop_spinning(p);
  p.clock += price_.steal;
  p.now = doing::running;
  later(p);
}

void simulation::end_round(processor& p) {
  const unsigned round = p.rounds++;
  if (round % rounds_per_look == 0) {
    if (!p.seen) {
      p.something_since = 0;
      if (p.nothing_since == 0) p.nothing_since = p.clock;
      if (p.clock - p.nothing_since > search_time) {
        p.now = doing::giving_up;
        return later(p);
      }
    } else {
      p.nothing_since = 0;
      if (p.something_since == 0) p.something_since = p.clock;
      if (p.clock - p.something_since > patience_time) {
        p.something_since = p.clock;
        begin_expose(p);
        if (p.now == doing::exposing) return later(p);
      }
    }
  }
  next_round(p);
}

void simulation::next_round(processor& p) {
  if (fiber* const f = take_ready()) {
    stop_spinning(p);
    p.clock += price_.resume;
    switch_to(p, *f);
  } else {
    p.now = doing::looking;
    p.clock += price_.round;
    begin_round(p);
  }
  later(p);
}

// find_work.cpp, steal_for_top
void simulation::end_round_on_top(processor& p) {
  frame& waits = p.running->top();
  if (++p.rounds < top_rounds && !waits.joined.finished()) {
    p.clock += price_.round;
    begin_round(p);
  } else {
    stop_spinning(p);
    p.now = doing::running;
    if (!waits.joined.finished()) {
      ++p.count.suspensions;
      p.clock += price_.suspend;
      waits.now = stage::leave;
    }
  }
  later(p);
}

void simulation::begin_expose(processor& p) {
  if (exposer_) return;
  for (unsigned i = 0, at = p.dice.below(chosen_.procs); i < chosen_.procs && p.begun.size() < exposed_at_a_time;
       ++i, at = (at + 1) % chosen_.procs) {
    if (processors_[at]->active->expose_begin()) p.begun.push_back(processors_[at].get());
  }
  if (p.begun.empty()) return;
  exposer_ = &p;
  p.clock += price_.membarrier;
  p.now = doing::exposing;
}

void simulation::end_expose(processor& p) {
  for (processor* const victim : p.begun) {
    if (victim->active->expose_end()) ++p.count.exposures;
    if (victim->now != doing::held_up) continue;
    victim->now = doing::running;
    victim->clock = std::max(victim->clock, p.clock);
    later(*victim);
  }
  p.begun.clear();
  p.something_since = p.clock;  // the fence takes a while of its own
  exposer_ = nullptr;
  next_round(p);
}

}  // namespace simulate
