// The policy of the serial programs, to which every other way is compared. Each kernel has one that is written by hand,
// kernels/<kernel>/serial.cpp: the kernel's algorithm in plain functions, with nothing of the template over ways. It
// defines problem<ways::serial>::run().
#pragma once

#include <cstddef>

#include "bench/harness/kernel.hpp"

namespace bench::ways {

struct serial {
  static constexpr bool is_serial = true;

  class team {
   public:
    team(int, std::size_t) {}
    template <class F>
    void run(F&& f) {
      f();
    }
    counter_list counters() const { return {}; }
  };
};

}  // namespace bench::ways
