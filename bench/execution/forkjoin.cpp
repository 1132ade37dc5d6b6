// Senders of this library's scheduler.
#include <forkjoin/execution.hpp>

#include "bench/execution/senders.hpp"

namespace {

class pool {
 public:
  explicit pool(int procs) : runtime_({.procs = static_cast<unsigned>(procs)}) {}
  fj::scheduler get() { return runtime_.scheduler(); }

 private:
  fj::runtime runtime_;
};

using team = bench::team_of<pool>;

}  // namespace

int main(int argc, char** argv) { return bench::answer_all<team>(argc, argv, bench::sender_of<team>); }
