// Quicksort by hand, every partition a fork: quicksort [n], a million numbers if no n is given. fj::parallel_sort does
// this better; here one sees how little there is to it.

#include <algorithm>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <random>
#include <span>
#include <vector>

void quicksort(std::span<int> numbers) {
  if (numbers.size() <= 32) return std::sort(numbers.begin(), numbers.end());
  const int pivot = numbers[numbers.size() / 2];
  // Three parts: less than the pivot, equal to it, greater.
  const auto equal = std::partition(numbers.begin(), numbers.end(), [=](int x) { return x < pivot; });
  const auto greater = std::partition(equal, numbers.end(), [=](int x) { return x == pivot; });
  fj::fork_join([&] { quicksort({numbers.begin(), equal}); }, [&] { quicksort({greater, numbers.end()}); });
}

int main(int argc, char** argv) {
  std::vector<int> numbers(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000);
  std::mt19937 random(1);
  for (int& x : numbers) x = static_cast<int>(random() % 1000);
  fj::run([&] { quicksort(numbers); });
  std::cout << numbers.size() << " numbers are " << (std::ranges::is_sorted(numbers) ? "sorted" : "NOT SORTED") << '\n';
}
