// Divide and conquer: how many pairs of a sequence are out of order? The halves fork, and the merge counts the pairs
// between them. There is no cut-off: a fork that is not stolen costs about ten instructions.

#include <algorithm>
#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <span>
#include <vector>

// Sorts the numbers, and returns how many pairs were out of order. The room is as large as the numbers.
long inversions(std::span<int> numbers, std::span<int> room) {
  if (numbers.size() < 2) return 0;
  const std::size_t half = numbers.size() / 2;
  auto [left, right] = fj::fork_join([=] { return inversions(numbers.first(half), room.first(half)); },
                                     [=] { return inversions(numbers.subspan(half), room.subspan(half)); });
  long between = 0;
  std::size_t a = 0, b = half;
  for (int& next : room) {
    const bool from_left = b == numbers.size() || (a != half && numbers[a] <= numbers[b]);
    if (!from_left) between += static_cast<long>(half - a);
    next = numbers[from_left ? a++ : b++];
  }
  std::ranges::copy(room, numbers.begin());
  return left + right + between;
}

int main() {
  std::vector<int> numbers;
  for (int i = 0; i < 100'000; ++i) numbers.push_back(i * 7'919 % 100'003);
  std::vector<int> room(numbers.size());
  std::cout << fj::run([&] { return inversions(numbers, room); }) << " pairs out of order\n";
}
