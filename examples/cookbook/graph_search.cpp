// The fewest moves from one state to another: a search in a graph, level by level. The token ends the level that has
// the goal. A level stays in the parts that the Ps have gathered: to join them took a third of the time.

#include <atomic>
#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <utility>
#include <vector>

int main() {
  constexpr std::size_t states = 1'000'000, goal = 777'777;
  std::vector<std::atomic<bool>> seen(states);
  std::vector<std::vector<std::size_t>> level{{1}};
  seen[1] = true;
  int moves = 0;
  fj::stop_source found;
  const fj::stop_token token = found.get_token();

  fj::run([&] {
    while (!level.empty() && !token.stop_requested()) {
      ++moves;
      fj::combinable<std::vector<std::size_t>> next;
      const auto visit = [&](std::size_t from) {
        for (const std::size_t to : {from + 1, from * 2, from * 3, from / 5}) {
          if (to >= states || seen[to].exchange(true, std::memory_order_relaxed)) continue;
          if (to == goal) found.request_stop();
          next.with_local([&](auto& mine) { mine.push_back(to); });
        }
      };
      try {
        fj::fork_each(level, [&](const auto& part) { fj::parallel_for(part, visit, {.stop = &token}); });
      } catch (const fj::cancelled&) {}  // not thrown if every part had started
      level.clear();
      next.for_each([&](auto& mine) { level.push_back(std::move(mine)); });
    }
  });
  std::cout << (token.stop_requested() ? "reached" : "not reached") << " after " << moves << " moves\n";
}
