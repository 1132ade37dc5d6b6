// How many P of each runtime are in use, what stacks new ones have, and whether exceptions end the process: of the
// living objects, the least number of P, and the most of the others.
#pragma once

#include "detail/left_out.h"
#include "detail/runtime.h"

#include <cstddef>
#include <stdexcept>
#include <string>

namespace tbb {

class global_control {
  using runtimes = fj_detail::runtimes;

 public:
  enum parameter {
    max_allowed_parallelism = runtimes::most_procs,
    thread_stack_size = runtimes::stack_size,
    terminate_on_exception = runtimes::ends_at_exception
  };

  /// Any limit above the number of P means all of them. A stack's size holds for the tasks of groups and arenas from
  /// now on, and for the runtimes that begin later: arenas, and the default one.
  global_control(parameter what, std::size_t value) : what_(what), value_(value) {
    if (what == max_allowed_parallelism && value == 0)
      throw std::invalid_argument("tbb::global_control: max_allowed_parallelism is 0; set at least 1");
    constexpr std::size_t most = std::size_t{1} << 40;  // as of options::stack_size
    if (what == thread_stack_size && value > most)
      throw std::invalid_argument("tbb::global_control: thread_stack_size is " + std::to_string(value) +
                                  "; set it to at most " + std::to_string(most));
    runtimes::all().hold(control(), value);
  }
  ~global_control() { runtimes::all().drop(control(), value_); }
  global_control(const global_control&) = delete;
  global_control& operator=(const global_control&) = delete;

  static std::size_t active_value(parameter what) {
    if (what == terminate_on_exception) return runtimes::all().most(runtimes::ends_at_exception);
    const bool is_stack = what == thread_stack_size;
    const std::size_t set =
        is_stack ? runtimes::all().most(runtimes::stack_size) : runtimes::all().least(runtimes::most_procs);
    return set != 0 ? set : is_stack ? fj_detail::usual_task_stack : fj::procs();
  }

 private:
  runtimes::control control() const noexcept { return static_cast<runtimes::control>(what_); }

  parameter what_;
  std::size_t value_;
};

}  // namespace tbb
