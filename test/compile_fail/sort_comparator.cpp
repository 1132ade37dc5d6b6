// A comparator must take what the projection returns.
// refused: fj::parallel_sort: the comparator does not fit: it must be callable with two (projected) elements and return
// bool; without one, the elements need an operator<

#include <string>
#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  std::vector<std::string> words{"b", "a"};
#ifdef FIXED
  fj::parallel_sort(words, [](std::size_t a, std::size_t b) { return a < b; }, &std::string::size);
#else
  fj::parallel_sort(words, [](std::size_t a, std::size_t b) { return a < b; });
#endif
}
