// Readings that are checked while all Ps compute: the fiber that checks them is urgent, so that a strand of the
// computation gives way to it at its next fork.

#include <chrono>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <iostream>

using namespace std::chrono_literals;

static long pascal(int row, int column) {
  if (column == 0 || column == row) return 1;
  const auto [left, right] =
      fj::fork_join([=] { return pascal(row - 1, column - 1); }, [=] { return pascal(row - 1, column); });
  return left + right;
}

int main() {
  fj::run([] {
    const fj::channel<int> readings(8);
    auto guard = fj::go({.urgent = true}, [=] {
      int alarms = 0;
      for (const int each : readings) alarms += each > 90;
      return alarms;
    });
    auto sensor = fj::go({.urgent = true}, [=] {
      for (int i = 0; i < 20; ++i) {
        fj::sleep_for(1ms);
        readings.send(i * 37 % 100);
      }
      readings.close();
    });
    const long paths = pascal(24, 12);
    sensor.get();
    std::cout << paths << " paths, " << guard.get() << " alarms\n";
  });
}
