// refused: fj::parallel_reduce: the range has no random access, or no size; what has not, as a std::list, can be copied
// refused: fj::parallel_reduce: no random access: first, last and second must be random-access iterators; what has only
// others, as refused: fj::parallel_reduce: no random access: first and last must be random-access iterators; what has
// only others, as a

#include <functional>
#include <list>
#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  const std::vector<int> all{1, 2, 3};
#else
  const std::list<int> all{1, 2, 3};
#endif
  const auto body = [](long sum, int x) { return sum + x; };
  const auto join = [](long a, long b) { return a + b; };
  static_cast<void>(fj::parallel_reduce(all, 0, std::plus<>()));
  static_cast<void>(fj::parallel_reduce(all.begin(), all.end(), 0, std::plus<>()));
  static_cast<void>(
      fj::parallel_reduce(all.begin(), all.end(), 0L, body, [=](long a, const long& b) { return join(a, b); }));
}
