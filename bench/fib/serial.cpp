// The serial program: what the compiler makes of it with the same flags is what every other way is compared to.
#include "bench/fib/way.hpp"

namespace bench {
namespace serial {

long fib(int n) {
  if (n < 2) return n;
  return fib(n - 1) + fib(n - 2);
}

long flat(long count) {
  long leaves = 0;
  for (long i = 0; i < count; ++i) {
    const long a = leaf();
    const long b = leaf();
    leaves += a + b;
  }
  return leaves;
}

class serial_team final : public team {
 public:
  long fib(int n) override { return serial::fib(n); }
  long flat(long count) override { return serial::flat(count); }
};

}  // namespace serial

std::vector<way> serial_ways() {
  return {{"serial", false, [](int) -> std::unique_ptr<team> { return std::make_unique<serial::serial_team>(); }}};
}

}  // namespace bench
