// A loop whose body adds elements, as parallel_for_each of oneTBB with a feeder: the body forks into the scope. No
// element waits for the others of its level.

#include <atomic>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <vector>

template <class T, class Body>
struct feeder {
  fj::scope& scope;
  Body& body;
  void add(T item) const {
    scope.fork([*this, item] { body(item, *this); });
  }
};

// body(item, more) for each item, and for what more.add(item) adds.
template <class T, class Body>
void for_each_fed(const std::vector<T>& items, Body body) {
  fj::with_scope([&](fj::scope& scope) {
    const feeder<T, Body> more{scope, body};
    for (const T& each : items) more.add(each);
  });
}

int main() {
  std::vector<std::atomic<bool>> seen(100'000);
  std::atomic<int> visits = 0;
  for_each_fed(std::vector<int>{1}, [&](int n, const auto& more) {
    if (n >= 100'000 || seen[static_cast<std::size_t>(n)].exchange(true)) return;
    ++visits;
    more.add(2 * n);
    more.add(3 * n);
    more.add(5 * n);
  });
  std::cout << visits << " numbers without other factors than 2, 3 and 5\n";
}
