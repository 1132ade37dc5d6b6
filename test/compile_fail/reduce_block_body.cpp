// A body for blocks gets the ends of a block and the value so far; bounds are no characters; a value can be copied.
// refused: fj::parallel_reduce: the body does not fit: with an identity and a join it must be callable with a value and
// an element, or refused: fj::parallel_reduce: the body does not fit: it must be callable with two indices, the ends of
// a block, and a value refused: fj::parallel_reduce: the join does not fit: it must be callable with two values and
// return a value refused: fj::parallel_reduce: no integers or random access: first and last must be integers, not
// characters refused: fj::parallel_reduce: the identity cannot be copied: it must be copyable and assignable, as each
// block begins with one

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  const std::vector<int> all(3);
  const auto fold = [](auto begin, auto end, auto so_far) {
    return begin == end ? std::move(so_far) : std::move(so_far);
  };
#ifdef FIXED
  const auto join = [](std::shared_ptr<int> a, std::shared_ptr<int>) { return a; };
  return fj::parallel_reduce(all, 0, fold, std::plus<>()) + fj::parallel_reduce(0, 9, 0, fold, std::plus<>()) +
         *fj::parallel_reduce(0, 9, std::make_shared<int>(0), fold, join);
#else
  const auto two_arguments = [](int begin, int end) { return begin + end; };
  const auto of_strings = [](const std::string& a, const std::string&) { return a; };
  const auto join = [](std::unique_ptr<int> a, std::unique_ptr<int>) { return a; };
  return fj::parallel_reduce(all, std::string(), two_arguments, of_strings).size() +
         fj::parallel_reduce(0, 9, 0, two_arguments, std::plus<>()) + fj::parallel_reduce(0, 9, 0, fold, of_strings) +
         fj::parallel_reduce('a', 'z', 0, fold, std::plus<>()) +
         *fj::parallel_reduce(0, 9, std::make_unique<int>(0), fold, join);
#endif
}
