// OpenMP inside of a branch: the region keeps its thread until all its threads are done, so it is a blocking call. Give
// it the processors that the forks leave: here each region has two threads.

#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <iostream>
#include <vector>

// Stands for a library that uses OpenMP.
long sum_of_squares(const std::vector<long>& numbers) {
  long sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
  for (std::size_t i = 0; i < numbers.size(); ++i) sum += numbers[i] * numbers[i];
  return sum;
}

int main() {
  const std::vector<long> ones(100'000, 1), twos(100'000, 2);
  auto [a, b] = fj::fork_join([&] { return fj::blocking([&] { return sum_of_squares(ones); }); },
                              [&] { return fj::blocking([&] { return sum_of_squares(twos); }); });
  std::cout << a << ' ' << b << '\n';
}
