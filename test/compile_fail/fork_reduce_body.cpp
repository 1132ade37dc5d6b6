// refused: fj::fork_reduce: the body returns nothing: it must return a value; fj::fork_each takes bodies that return
// nothing refused: fj::fork_reduce: the operation does not fit: it must be callable with the sum so far and a value of
// the body, and return the new sum

#include <functional>
#include <string>

#include "forkjoin/forkjoin.hpp"

int main() {
#ifdef FIXED
  const auto body = [](int i) { return i; };
  const auto operation = std::plus<>();
#else
  const auto body = [](int) {};
  const auto operation = [](const std::string& a, int) { return a; };
#endif
  static_cast<void>(fj::fork_reduce(0, 10, 0, std::plus<>(), body));
  static_cast<void>(fj::fork_reduce(0, 10, 0, operation, [](int i) { return i; }));
}
