// The root of a fiber that fj::go starts.
#pragma once

#include "forkjoin/abi/go_job.hpp"
#include "runtime/fork/root.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// Lies in the job that it runs.
struct go_root : root {
  explicit go_root(go_job& its_job) noexcept;

  static go_root& in(go_job& its_job) noexcept;

  /// If the root is one of go.
  static const go_root* of(const root& r) noexcept;

  go_job& job;
  scheduler* runs_in = nullptr;
  task_count* counted_in = nullptr;

 private:
  static void end(root& self, worker& m) noexcept;
};

}}}  // namespace fj::v0_2::detail
