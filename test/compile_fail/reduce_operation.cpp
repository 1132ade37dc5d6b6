// refused: fj::parallel_reduce: the operation does not fit: elements must convert to the type of the initial value, and
// the operation must be callable

#include <string>
#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  const std::vector<std::string> all(3);
#ifdef FIXED
  const auto length = fj::parallel_reduce(all, std::size_t(0), std::plus<>(), &std::string::size);
#else
  const auto length = fj::parallel_reduce(all, std::size_t(0), std::plus<>());
#endif
  return static_cast<int>(length);
}
