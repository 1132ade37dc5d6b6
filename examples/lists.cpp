// Searches in a list of numbers, and divides it in two. Usage: lists [n], default 1000000.

#include <cstddef>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <vector>

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  std::vector<int> numbers(n);
  fj::parallel_for(std::size_t{0}, n, [&](std::size_t i) { numbers[i] = static_cast<int>(i * 7 % 1000); });

  // Two searches at once: fj::parallel_invoke is oneTBB's name for fj::fork_join. Each finds the first place, as
  // std::find, and what lies behind it is searched only until it is found.
  auto [first, none] = fj::parallel_invoke([&] { return fj::parallel_find(numbers, 999); },  //
                                           [&] { return fj::parallel_find(numbers, 1'000); });
  std::cout << "999 is number " << first - numbers.begin() << (none == numbers.end() ? ", 1000 is not there\n" : "\n");

  // Many blocks may write true, all the same: a race that is meant, of which the race detector is not to report.
  bool has_zero = false;
  fj::parallel_for(numbers, [&](int each) {
    if (each == 0) fj::benign_race([&] { __atomic_store_n(&has_zero, true, __ATOMIC_RELAXED); });
  });

  // Those that hold come first, in their order, as std::stable_partition.
  const auto rest = fj::parallel_stable_partition(numbers, [](int each) { return each < 500; });
  std::cout << rest - numbers.begin() << " are less than 500, the first one after them is " << *rest
            << (has_zero ? "; one is 0\n" : "\n");
}
