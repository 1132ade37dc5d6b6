// The job of a fiber that fj::go starts.
#pragma once

#include "forkjoin/abi/go_job.hpp"
#include "runtime/fork/job.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// Lies in the job that it runs.
struct job_of_go : job {
  explicit job_of_go(go_job& its_job) noexcept;

  static job_of_go& in(go_job& its_job) noexcept;

  /// If the job is one of go.
  static const job_of_go* of(const job& r) noexcept;

  go_job& holder;
  scheduler* runs_in = nullptr;
  task_count* counted_in = nullptr;

 private:
  static void end(job& self, worker& m) noexcept;
};

}}}  // namespace fj::v0_4::detail
