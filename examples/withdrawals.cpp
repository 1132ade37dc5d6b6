// A test that tries many schedules of a program. Two fibers withdraw money from one account: each looks whether there
// is enough, and waits before it takes it. Some schedule lets both look first. Usage: withdrawals; the exit status is 0
// if the mistake was found.

#include <forkjoin/explore.hpp>
#include <forkjoin/go.hpp>
#include <iostream>
#include <mutex>

struct account {
  long money = 100;
  fj::mutex mutex;

  long look() {
    const std::scoped_lock lock(mutex);
    return money;
  }
  void take(long amount) {
    const std::scoped_lock lock(mutex);
    money -= amount;
  }
  void withdraw(long amount) {
    if (look() >= amount) take(amount);  // the mistake: another fiber may take money in between
  }
};

long both_withdraw() {
  account mine;
  auto one = fj::go([&] { mine.withdraw(80); });
  auto other = fj::go([&] { mine.withdraw(80); });
  one.get();
  other.get();
  return mine.money;
}

int main() {
  const fj::exploration found = fj::explore(both_withdraw, 200);
  std::cout << (found.failed() ? "two results: the schedule decides\n" : "one result\n");
  return found.failed() ? 0 : 1;
}
