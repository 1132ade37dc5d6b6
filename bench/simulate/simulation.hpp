// The state of one simulation and its acts. Owners: owner.cpp. Thieves: thief.cpp. Idleness: idleness.cpp.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "bench/simulate/agenda.hpp"
#include "bench/simulate/processor.hpp"
#include "bench/simulate/simulator.hpp"
#include "bench/simulate/strand.hpp"
#include "runtime/schedule/parking.hpp"

namespace simulate {

class simulation {
 public:
  simulation(const kernel& k, const setup& chosen);

  result run();

 private:
  using parking = fj::detail::basic_parking<machine>;

  // All costs, in picoseconds.
  struct prices {
    explicit prices(const setup& chosen);
    picoseconds fork, slow_push, slow_pop, look, round, steal, arrive, ended, suspend, resume, membarrier, park, wake,
        wakeup;
  };

  void act(processor& p);
  void later(processor& p) { agenda_.add(p.clock, p.index, p.now == doing::running); }

  // owner.cpp: what a strand does. False when the processor has nothing more to do for now.
  void run_strand(processor& p);
  void next_step(processor& p, frame& f);
  void push(processor& p, frame& f);
  void push_slow(processor& p, frame& f);
  bool pop_slow(processor& p, frame& f);
  bool join(processor& p, frame& f);
  bool leave(processor& p, frame& f);
  bool arrive(processor& p, frame& f);
  void run_here(processor& p, frame& f);
  void run_other(processor& p, frame& f);
  frame& enter(fiber& g, const node& self, caller by);
  void leave_frame(fiber& g) noexcept;
  void switch_to(processor& p, fiber& g);

  // thief.cpp
  void find_work(processor& p);
  void wait_for_turn(processor& p);
  void begin_search(processor& p);
  void begin_round(processor& p);
  void look_around(processor& p);
  void end_round(processor& p);
  void next_round(processor& p);
  void end_round_on_top(processor& p);
  void begin_stolen(processor& p, frame& record);
  void run_on_top(processor& p, frame& record);
  void begin_expose(processor& p);
  void end_expose(processor& p);

  // idleness.cpp
  void start_spinning(processor& p);
  void stop_spinning(processor& p);
  void wake(processor& p);
  void ready(processor& p, fiber& g);
  fiber* take_ready();
  void park(processor& p);
  void end_park(processor& p);

  fiber* take_stack();
  void give_stack(fiber* idle);
  void count_stack();

  const kernel& kernel_;
  const setup chosen_;
  const prices price_;
  const std::size_t deep_;  // calls on a stack from which on nothing runs on top
  std::vector<std::unique_ptr<processor>> processors_;
  std::vector<unsigned> steps_;
  agenda agenda_;
  parking parking_;
  std::vector<processor*> idle_;  // the last comes first, as in the runtime
  std::deque<fiber*> ready_;
  processor* exposer_ = nullptr;  // one at a time
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<fiber*> free_fibers_;
  std::uint64_t stacks_ = 0, frames_ = 0;
  step step_;
  bool over_ = false;
  result result_;
};

}  // namespace simulate
