// A pipeline whose stages fork: one fiber makes blocks of numbers, one sorts each block in parallel, one adds up the
// medians. While a stage waits for the next block, its worker helps the others. Usage: pipeline [blocks], default 20.

#include <cstdint>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <iostream>
#include <vector>

using block = std::vector<std::uint32_t>;

int main(int argc, char** argv) {
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 20;
  const fj::channel<block> made(2), sorted(2);

  auto maker = fj::go([=] {
    for (int b = 0; b < blocks; ++b) {
      block numbers(100'000);
      fj::parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t i) {
        numbers[i] = static_cast<std::uint32_t>((i + static_cast<std::size_t>(b)) * 2'654'435'761u) % 1'000'003;
      });
      made.send(std::move(numbers));
    }
    made.close();
  });
  auto sorter = fj::go([=] {
    for (block& each : made) {
      fj::parallel_sort(each);
      sorted.send(std::move(each));
    }
    sorted.close();
  });

  std::uint64_t sum = 0;
  for (const block& each : sorted) sum += each[each.size() / 2];
  maker.get();
  sorter.get();
  std::cout << blocks << " blocks, sum of the medians " << sum << '\n';
}
