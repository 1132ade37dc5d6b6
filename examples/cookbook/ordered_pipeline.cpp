// A pipeline that keeps the order: one block is written and the next one read, while the block between them is
// transformed in parallel. Three blocks are in memory, and an exception of any stage ends the pipeline.

#include <cstddef>
#include <cstdint>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <utility>
#include <vector>

template <class T, class Read, class Transform, class Write>
void ordered_pipeline(std::size_t block, Read read, Transform transform, Write write) {
  fj::run([&] {
    std::vector<T> coming, now, done;
    const auto read_block = [&] {
      coming.clear();
      for (T next; coming.size() < block && read(next);) coming.push_back(std::move(next));
    };
    read_block();
    while (!coming.empty() || !done.empty()) {
      now.swap(coming);
      const auto both_ends = [&] {
        for (T& each : done) write(each);
        read_block();
      };
      fj::fork_join(both_ends, [&] { fj::parallel_for(now, transform); });
      done.swap(now);
    }
  });
}

int main() {
  std::uint64_t next = 0, hash = 0;
  ordered_pipeline<std::uint64_t>(
      256, [&](std::uint64_t& value) { return (value = next++) < 10'000; },
      [](std::uint64_t& value) { value = (value ^ (value >> 3)) * 0x9e3779b97f4a7c15; },
      [&](std::uint64_t value) { hash = hash * 31 + value; });
  std::cout << "hash " << hash << '\n';
}
