// Senders of stdexec's own pool.
#include <cstdint>
#include <exec/static_thread_pool.hpp>

#include "bench/execution/senders.hpp"

namespace {

class pool {
 public:
  explicit pool(int procs) : pool_(static_cast<std::uint32_t>(procs)) {}
  auto get() { return pool_.get_scheduler(); }

 private:
  exec::static_thread_pool pool_;
};

using team = bench::team_of<pool>;

}  // namespace

int main(int argc, char** argv) { return bench::answer_all<team>(argc, argv, bench::sender_of<team>); }
