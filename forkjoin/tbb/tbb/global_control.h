// How many P of each runtime are in use: the least that the living objects allow.
#pragma once

#include "detail/left_out.h"
#include "detail/runtime.h"

#include <cstddef>
#include <stdexcept>

namespace tbb {

class global_control {
 public:
  enum parameter { max_allowed_parallelism, thread_stack_size, terminate_on_exception, scheduler_handle };

  /// Any limit above the number of P means all of them.
  global_control(parameter what, std::size_t value) : what_(what), value_(value) {
    if (what == max_allowed_parallelism) {
      if (value == 0) throw std::invalid_argument("tbb::global_control: max_allowed_parallelism is 0; set at least 1");
      fj_detail::runtimes::all().limit(value);
    }
  }
  ~global_control() {
    if (what_ == max_allowed_parallelism) fj_detail::runtimes::all().drop_limit(value_);
  }
  global_control(const global_control&) = delete;
  global_control& operator=(const global_control&) = delete;

  static std::size_t active_value(parameter what) {
    if (what == thread_stack_size) return fj_detail::task_stack;
    if (what != max_allowed_parallelism) return 0;
    const std::size_t limit = fj_detail::runtimes::all().limit();
    return limit != 0 ? limit : fj::procs();
  }

 private:
  parameter what_;
  std::size_t value_;
};

}  // namespace tbb
