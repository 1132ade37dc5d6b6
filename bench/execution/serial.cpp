// The loops of senders, by plain loops.
#include "bench/execution/execution.hpp"

namespace {

class team {
 public:
  explicit team(int) {}

  template <class F>
  static void bulk(std::size_t n, F f) {
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
  template <class F>
  static void bulk_unchunked(std::size_t n, F f) {
    bulk(n, f);
  }
  template <class F>
  static void bulk_chunked(std::size_t n, F f) {
    f(std::size_t(0), n);
  }
};

}  // namespace

int main(int argc, char** argv) { return bench::answer_all<team>(argc, argv, bench::sender_of<team>); }
