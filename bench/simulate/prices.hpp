// What the scheduler's doings cost, in picoseconds: the costs of one simulation (costs.hpp).
#pragma once

#include "bench/simulate/costs.hpp"
#include "bench/simulate/kernel.hpp"

namespace simulate {

struct prices {
  prices(const costs& of, bool last_first) noexcept
      : fork(ps(last_first ? of.fork_tasks : of.fork)),
        slow_push(ps(of.slow_push)),
        slow_pop(ps(of.slow_pop)),
        look(ps(of.look)),
        far_look(ps(of.look * of.far)),
        round(ps(of.round)),
        steal(ps(of.steal)),
        far_steal(ps(of.steal * of.far)),
        arrive(ps(of.arrive)),
        ended(ps(of.ended)),
        suspend(ps(of.suspend)),
        resume(ps(of.resume)),
        far_resume(ps(of.resume * of.far)),
        membarrier(ps(of.membarrier)),
        interrupt(ps(of.interrupt)),
        line(ps(of.line)),
        complex_line(ps(of.complex_line)),
        socket_line(ps(of.socket_line)),
        park(ps(of.park)),
        wake(ps(of.wake)),
        wakeup(ps(of.wakeup)),
        complex(static_cast<unsigned>(of.complex)),
        misses(static_cast<unsigned>(of.misses)) {}

  picoseconds fork, slow_push, slow_pop, look, far_look, round, steal, far_steal, arrive, ended, suspend, resume,
      far_resume, membarrier, interrupt, line, complex_line, socket_line, park, wake, wakeup;
  unsigned complex, misses;
};

}  // namespace simulate
