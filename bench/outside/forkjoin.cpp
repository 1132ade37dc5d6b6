// Calls from outside, by this library.
#include <forkjoin/fork_join.hpp>
#include <forkjoin/parallel_for.hpp>
#include <forkjoin/run.hpp>

#include "bench/outside/outside.hpp"

namespace {

class team {
 public:
  explicit team(int procs) : runtime_({.procs = static_cast<unsigned>(procs)}) {
    fj::default_options({.procs = static_cast<unsigned>(procs)});
  }
  void call(const bench::branch_work& work) {
    runtime_.run([&] { fj::fork_join(work, work); });
  }
  void loop(std::size_t n, const auto& body) { fj::parallel_for(std::size_t{0}, n, body); }

 private:
  fj::runtime runtime_;
};

}  // namespace

int main(int argc, char** argv) { return bench::measure_calls<team>(argc, argv); }
