// A body for the blocks of a scan gets the ends of a block, the value so far, and whether it is final. refused:
// fj::parallel_scan: the body does not fit: with an identity and a join it must be callable with the two ends of a
// block refused: fj::parallel_scan: no integers or random access: first and last must be integers, not characters
// refused: fj::parallel_scan: the range has no random access, or no size
// refused: fj::parallel_scan: the identity cannot be copied: it must be copyable and assignable, as the sum of a block
// begins with one

#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  const auto scan = [](auto, auto, auto so_far, bool) { return so_far; };
#ifdef FIXED
  const auto join = [](std::shared_ptr<int> a, std::shared_ptr<int>) { return a; };
  return fj::parallel_scan(0, 9, 0, scan, std::plus<>()) +
         fj::parallel_scan(std::vector<int>(3), 0, scan, std::plus<>()) +
         *fj::parallel_scan(0, 9, std::make_shared<int>(0), scan, join);
#else
  const auto fold = [](int, int, int so_far) { return so_far; };
  const auto join = [](std::unique_ptr<int> a, std::unique_ptr<int>) { return a; };
  return fj::parallel_scan(0, 9, 0, fold, std::plus<>()) + fj::parallel_scan('a', 'z', 0, scan, std::plus<>()) +
         fj::parallel_scan(std::list<int>(3), 0, scan, std::plus<>()) +
         *fj::parallel_scan(0, 9, std::make_unique<int>(0), scan, join);
#endif
}
