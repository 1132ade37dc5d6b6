// A call that a fiber of a runtime makes, as operations of <forkjoin/execution.hpp> are.
#pragma once

#include <atomic>

#include "forkjoin/abi/scheduled_call.hpp"
#include "forkjoin/run.hpp"

namespace test {

class scheduled {
 public:
  void start(fj::runtime& in) noexcept { call_.start(fj::detail::scheduler_of(in)); }
  bool ran() const noexcept { return ran_; }

 private:
  static void run(fj::detail::job_body& body) noexcept {
    static_cast<scheduled*>(static_cast<fj::detail::operation_body&>(body).operation)->ran_ = true;
  }

  std::atomic<bool> ran_{false};
  fj::detail::scheduled_call call_{&run, this};
};

}  // namespace test
