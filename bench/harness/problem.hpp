// Makes a way of a kernel out of the kernel's header and a policy. The build compiles each source of harness/ways/ (or
// of the kernel's own folder) once for each kernel, with the kernel's header as BENCH_HEADER and its name as
// BENCH_KERNEL.
#pragma once

#include <optional>

#include "bench/harness/kernel.hpp"
#include BENCH_HEADER

namespace bench {

template <class Way, template <class> class Problem>
class problem_team final : public team {
 public:
  explicit problem_team(int procs) : team_(procs, BENCH_KERNEL::description.stack_size) {}

  void prepare(long size) override { problem_.emplace(size); }
  bool resets() const override {
    return requires(Problem<Way>& p) { p.reset(); };
  }
  void reset() override {
    if constexpr (requires(Problem<Way>& p) { p.reset(); }) problem_->reset();
  }
  void run() override {
    team_.run([this] { problem_->run(); });
  }
  std::uint64_t result() override { return problem_->result(); }
  counter_list counters() const override { return team_.counters(); }

 private:
  typename Way::team team_;
  std::optional<Problem<Way>> problem_;
};

template <class Way, template <class> class Problem>
std::unique_ptr<team> assemble(int procs) {
  return std::make_unique<problem_team<Way, Problem>>(procs);
}

}  // namespace bench

// Defines <policy>_way(), which entries.cpp asks for.
#define BENCH_WAY(policy)                                                                             \
  namespace bench::BENCH_KERNEL {                                                                     \
  way policy##_way() { return {#policy, !ways::policy::is_serial, assemble<ways::policy, problem>}; } \
  }
