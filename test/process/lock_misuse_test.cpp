// A mutex that is unlocked though it is not locked: the program says which call did it, and aborts. Tried without the
// checks: fj::mutex::unlock spins for ever, and the shared mutex locks all writers out.

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

int unlock_twice() {
  fj::mutex m;
  m.lock();
  m.unlock();
  m.unlock();
  return 0;
}

// While others wait, or have just been woken.
int unlock_too_often_in_crowd() {
  fj::runtime rt(test::with_procs(2));
  fj::mutex m;
  return rt.run([&] {
    m.lock();
    std::vector<fj::future<void>> all;
    for (int i = 0; i < 8; ++i)
      all.push_back(fj::go([&] {
        const std::scoped_lock lock(m);
        fj::yield();
      }));
    fj::sleep_for(std::chrono::milliseconds(1));
    m.unlock();
    for (auto& each : all) each.get();
    m.unlock();
    return 0;
  });
}

int wait_unlocked() {
  fj::mutex m;
  fj::condition_variable condition;
  std::unique_lock lock(m);
  m.unlock();
  condition.wait(lock);
  return 0;
}

int unlock_shared_twice() {
  fj::shared_mutex m;
  m.lock_shared();
  m.unlock_shared();
  m.unlock_shared();
  return 0;
}

int unlock_shared_as_writer() {
  fj::shared_mutex m;
  const std::shared_lock lock(m);
  m.unlock();
  return 0;
}

int unlock_writer_as_reader() {
  fj::shared_mutex m;
  const std::unique_lock lock(m);
  m.unlock_shared();
  return 0;
}

// Right uses say nothing.
int rightly() {
  fj::runtime rt(test::with_procs(2));
  fj::mutex m;
  fj::shared_mutex shared;
  rt.run([&] {
    fj::fork_each(0, 1000, [&](int i) {
      if (i % 3 == 0) {
        const std::scoped_lock lock(m);
      } else if (i % 3 == 1) {
        const std::shared_lock lock(shared);
      } else {
        const std::unique_lock lock(shared);
      }
    });
  });
  return 0;
}

}  // namespace

int main() {
  test::verdict verdict;
  const auto check = [&](auto body, const std::string& call, const std::string& function) {
    const test::ending end = test::in_child(body, 60);
    verdict.check(end.signal == SIGABRT, function + ": ended with signal " + std::to_string(end.signal) + ", code " +
                                             std::to_string(end.code) + (end.too_late ? ", too late" : ""));
    verdict.contains(end.said, "forkjoin: " + call + " of a mutex that is not locked that way, called by " + function,
                     function);
    verdict.contains(end.said, "lock_misuse_test.cpp:", function);
    verdict.contains(end.said, "Unlock once for each lock", function);
  };
  check(&unlock_twice, "fj::mutex::unlock", "unlock_twice");
  check(&unlock_too_often_in_crowd, "fj::mutex::unlock", "unlock_too_often_in_crowd");
  check(&wait_unlocked, "fj::condition_variable::wait", "wait_unlocked");
  check(&unlock_shared_twice, "fj::shared_mutex::unlock_shared", "unlock_shared_twice");
  check(&unlock_shared_as_writer, "fj::shared_mutex::unlock", "unlock_shared_as_writer");
  check(&unlock_writer_as_reader, "fj::shared_mutex::unlock_shared", "unlock_writer_as_reader");
  const test::ending right = test::in_child(&rightly);
  verdict.check(right.code == 0 && right.said.empty(), "right uses: " + right.said);
  return verdict.exit_code();
}
