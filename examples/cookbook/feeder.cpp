// A loop whose body adds elements: no element waits for the others of its level.

#include <atomic>
#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <vector>

int main() {
  constexpr std::size_t bound = 100'000;
  std::vector<std::atomic<bool>> seen(bound);
  std::atomic<int> visits = 0;
  const auto visit = [&](std::size_t n, fj::feeder<std::size_t>& more) {
    if (n >= bound || seen[n].exchange(true)) return;
    ++visits;
    for (const std::size_t factor : {2u, 3u, 5u}) more.add(n * factor);
  };
  fj::parallel_for_each(std::vector<std::size_t>{1}, visit);
  std::cout << visits << " numbers without other factors than 2, 3 and 5\n";
}
