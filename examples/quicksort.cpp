// Quicksort by hand, every partition a fork. Usage: quicksort [n], default a million numbers. fj::parallel_sort does
// this better; the example shows how short it is.

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
  const long n = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  if (n < 1 || n > 1'000'000'000) {
    std::cerr << "quicksort: n is " << n << ", but must be from 1 to 1000000000\n";
    return 1;
  }
  std::vector<int> numbers(static_cast<std::size_t>(n));
  std::mt19937 random(1);
  for (int& x : numbers) x = static_cast<int>(random() % 1000);
  fj::run([&] { quicksort(numbers); });
  std::cout << numbers.size() << " numbers are " << (std::ranges::is_sorted(numbers) ? "sorted" : "NOT SORTED") << '\n';
}
