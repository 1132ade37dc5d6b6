// Twenty programs with a mistake that only some schedules show: schedules_test.py looks for them in several ways.
//
//   bugs                     the names
//   bugs NAME explore N      fj::explore with N seeds; status 1 if it finds one
//   bugs NAME run            one run, in a runtime by the environment; status 1 if it fails
//   bugs hash SEED N         the hashes of N schedules by one seed, of a program that uses much of the library
//
// The first twelve are after published ones: kernels of GoBench (Yuan and others, "GoBench: a benchmark suite of
// real-world Go concurrency bugs", CGO 2021), written anew; the name has the project and the number of its pull
// request. In Go, of 100 runs of such a kernel 1 to 69 fail, as GoBench counts for those where it does.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <vector>

#include "forkjoin/explore.hpp"
#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"

namespace {

using namespace std::chrono_literals;
using lock = std::scoped_lock<fj::mutex>;

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// Starts strands, waits for all of them, and throws what they throw.
class strands {
 public:
  template <class F>
  void go(F f) {
    all_.push_back(fj::go(std::move(f)));
  }
  void wait() {
    for (fj::future<void>& each : all_) each.wait();
    for (fj::future<void>& each : all_) each.get();
  }

 private:
  std::vector<fj::future<void>> all_;
};

// --- After published ones ---

// Heartbeats are sent under one lock, and take another; a tick takes them in the other order.
void cockroach_10214() {
  fj::mutex coalesced, raft;
  strands all;
  all.go([&] {
    const lock outer(coalesced);
    for (int replica = 0; replica != 2; ++replica) const lock inner(raft);
  });
  all.go([&] {
    const lock outer(raft);
    const lock inner(coalesced);
  });
  all.wait();
}

// A table of descriptors is read under a shared lock, and printed for the log, which takes that lock again; a writer
// comes between.
void cockroach_6181() {
  fj::shared_mutex table;
  strands all;
  for (int lookup = 0; lookup != 3; ++lookup)
    all.go([&] {
      {
        const std::shared_lock read(table);
        const std::shared_lock printed(table);
      }
      const std::scoped_lock write(table);
    });
  all.wait();
}

// Results are handed out under a lock; to stop that, the same lock is needed.
void kubernetes_1321() {
  fj::mutex mux;
  fj::channel<int> events(1), result(0);
  bool watched = false;
  strands all;
  all.go([&] {
    while (events.receive()) {
      const lock held(mux);
      if (watched) result.send(1);
    }
  });
  {
    const lock held(mux);
    watched = true;
  }
  all.go([&] {
    events.send(1);
    events.close();
  });
  result.try_receive();
  {
    const lock held(mux);
    watched = false;
  }
  all.wait();
}

// A frame is written under a lock, and waits for the monitor, which needs the lock to close what it waits for.
void kubernetes_6632() {
  fj::mutex write_lock;
  fj::channel<int> reset(0), closed(0);
  bool open = true;
  strands all;
  all.go([&] { closed.send(1); });
  all.go([&] {
    for (;;) {
      const auto over = fj::select(fj::on_receive(closed, [](auto) {}), fj::on_receive(reset, [](auto) {}));
      if (over == 0) break;
    }
    const lock held(write_lock);
    open = false;
  });
  all.go([&] {
    const lock held(write_lock);
    if (open) reset.send(1);
  });
  all.wait();
}

// A status is sent under a lock that its receiver takes after each.
void kubernetes_10182() {
  fj::mutex statuses;
  fj::channel<int> updates(0);
  strands all;
  all.go([&] {
    for (int batch = 0; batch != 2; ++batch) {
      updates.receive();
      const lock held(statuses);
    }
  });
  for (int pod = 0; pod != 2; ++pod)
    all.go([&] {
      const lock held(statuses);
      updates.send(1);
    });
  all.wait();
}

// The end holds the lock while it waits for a strand that takes the lock for the last update.
void etcd_6873() {
  fj::mutex mu;
  fj::channel<int> updates(1), done(0);
  strands all;
  all.go([&] {
    while (updates.receive()) const lock coalesced(mu);
    done.close();
  });
  updates.send(1);
  all.go([&] {
    const lock held(mu);
    updates.close();
    done.receive();
  });
  all.wait();
}

// Tokens are added by a message, under a lock that the keeper takes to delete those that are too old.
void etcd_7492() {
  fj::mutex tokens;
  fj::channel<int> added(0), stop(0);
  strands all;
  all.go([&] {
    for (bool goes_on = true; goes_on;)
      fj::select(fj::on_receive(added, [](auto) {}), fj::on_receive(stop, [&](auto) { goes_on = false; }),
                 fj::after(10us, [&] { const lock held(tokens); }));
  });
  for (int user = 0; user != 3; ++user) {
    const lock held(tokens);
    added.send(user);
  }
  stop.close();
  all.wait();
}

// A probe takes the container's lock; to stop the probes, a message is sent under that lock.
void moby_28462() {
  fj::mutex container;
  fj::channel<int> stop(0);
  strands all;
  all.go([&] {
    for (int probe = 0; probe != 3; ++probe) {
      bool stopped = false;
      fj::select(fj::on_receive(stop, [&](auto) { stopped = true; }), fj::otherwise([] {}));
      if (stopped) return;
      const lock held(container);
    }
    stop.receive();
  });
  all.go([&] {
    const lock held(container);
    stop.send(1);
  });
  all.wait();
}

// A monitor that is stopped leaves its probe, which waits for ever for its result to be taken.
void moby_33781() {
  fj::channel<int> stop(0);
  strands all, probing;
  all.go([&] {
    for (bool goes_on = true; goes_on;) {
      fj::channel<int> results(0);
      bool probes = false;
      fj::select(fj::on_receive(stop, [&](auto) { goes_on = false; }), fj::after(1us, [&] { probes = true; }));
      if (!probes) continue;
      probing.go([results] { results.send(1); });
      fj::select(fj::on_receive(stop, [&](auto) { goes_on = false; }), fj::on_receive(results, [](auto) {}));
    }
  });
  all.go([&] {
    fj::sleep_for(20us);
    stop.send(1);
  });
  all.wait();
  probing.wait();
}

// Two requests at once, and room for one: the first to be let go may not be the one that was let in.
void serving_2137() {
  fj::channel<int> pending(2), active(1);
  struct request {
    fj::mutex waits;
    fj::channel<bool> accepted{1};
  };
  std::array<request, 2> requests;
  strands all;
  for (request& each : requests) {
    each.waits.lock();
    all.go([&] {
      int token = 0;
      bool ok = pending.try_send(token);
      if (ok) {
        active.send(0);
        { const lock work(each.waits); }
        active.receive();
        pending.receive();
      }
      each.accepted.send(ok);
    });
  }
  for (request& each : requests) {
    each.waits.unlock();
    each.accepted.receive();
  }
  all.wait();
}

// The status closes the channel that a write may be about to use.
void grpc_1687() {
  fj::channel<int> writes(4);
  strands all;
  all.go([&] {
    writes.send(1);
    writes.close();
  });
  all.go([&] { writes.send(2); });
  all.wait();
}

// A connection is closed while its watcher is on the way to the balancer that is gone then.
void grpc_2371() {
  fj::mutex mu;
  auto balancer = std::make_shared<fj::channel<int>>(1);
  strands all;
  all.go([&] {
    const lock held(mu);
    require(balancer != nullptr, "the balancer is gone");
    balancer->send(1);
  });
  all.go([&] {
    const lock held(mu);
    balancer.reset();
  });
  all.wait();
}

// --- Others ---

// A lost update: the lock is free between the read and the write.
void lost_update() {
  fj::mutex m;
  int n = 0;
  const auto add = [&] {
    m.lock();
    const int seen = n;
    m.unlock();
    m.lock();
    n = seen + 1;
    m.unlock();
  };
  fj::fork_join(add, add);
  require(n == 2, "an update is lost");
}

// The same, and only if one branch sleeps over two updates of the other: two changes of the strand at the right places.
void lost_updates_in_a_row() {
  fj::mutex m;
  int n = 0, lost = 0;
  fj::fork_join(
      [&] {
        m.lock();
        const int seen = n;
        m.unlock();
        m.lock();
        lost = n - seen;
        m.unlock();
      },
      [&] {
        for (int i = 0; i != 3; ++i) {
          const lock held(m);
          ++n;
        }
      });
  require(lost != 2, "two updates came between");
}

// Each of two strands finds nothing made, and makes it.
void made_twice() {
  fj::mutex m;
  int made = 0;
  const auto make = [&] {
    m.lock();
    const bool is_there = made != 0;
    m.unlock();
    if (is_there) return;
    const lock held(m);
    ++made;
  };
  fj::fork_join(make, make);
  require(made == 1, "it was made twice");
}

// The flag is looked at before the lock is taken to wait: a notification between them is lost.
void lost_notification() {
  fj::mutex m;
  fj::condition_variable changed;
  bool ready = false;
  strands all;
  all.go([&] {
    m.lock();
    const bool waits = !ready;
    m.unlock();
    if (!waits) return;
    std::unique_lock held(m);
    changed.wait(held);
  });
  all.go([&] {
    {
      const lock held(m);
      ready = true;
    }
    changed.notify_one();
  });
  all.wait();
}

// Two consumers are woken for one value, and the second does not look again.
void if_in_place_of_while() {
  fj::mutex m;
  fj::condition_variable filled;
  std::deque<int> values;
  strands all;
  for (int consumer = 0; consumer != 2; ++consumer)
    all.go([&] {
      std::unique_lock held(m);
      if (values.empty()) filled.wait(held);
      require(!values.empty(), "there is no value");
      values.pop_front();
    });
  for (int value = 0; value != 2; ++value)
    all.go([&] {
      const lock held(m);
      values.push_back(1);
      filled.notify_all();
    });
  all.wait();
}

// The flag is set before what it stands for.
void ready_before_data() {
  fj::mutex m;
  bool ready = false;
  std::optional<int> data;
  fj::fork_join(
      [&] {
        m.lock();
        ready = true;
        m.unlock();
        const lock held(m);
        data = 1;
      },
      [&] {
        const lock held(m);
        require(!ready || data, "it is ready and not there");
      });
}

// Each of two strands needs two of two permits, and takes one after the other.
void half_of_the_permits() {
  fj::semaphore permits(2);
  const auto work = [&] {
    permits.acquire();
    permits.acquire();
    permits.release();
    permits.release();
  };
  fj::fork_join(work, work);
}

// Dining philosophers, each with the left fork first.
void philosophers() {
  std::array<fj::mutex, 3> forks;
  fj::parallel_for(0, 3, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    const lock left(forks[at]);
    const lock right(forks[(at + 1) % 3]);
  });
}

// Forks, loops, scopes, channels, locks, timers and selects.
long a_bit_of_everything() {
  fj::mutex m;
  long sum = 0;
  fj::channel<int> numbers(2), ticks(0);
  strands all;
  all.go([&] {
    for (int i = 0; i != 8; ++i) numbers.send(i);
    numbers.close();
  });
  all.go([&] {
    fj::sleep_for(1h);
    ticks.send(1);
  });
  for (int reader = 0; reader != 3; ++reader)
    all.go([&] {
      while (const std::optional<int> n = numbers.receive()) {
        const lock held(m);
        sum += *n;
      }
    });
  for (int ticked = 0; ticked == 0;)
    fj::select(fj::on_receive(ticks, [&](auto) { ++ticked; }), fj::after(20min, [&] { const lock held(m); }));
  all.wait();
  fj::parallel_for(0, 1000, [&](int i) {
    if (i % 100 != 0) return;
    const lock held(m);
    sum += i;
  });
  fj::scope s;
  for (int child = 0; child != 5; ++child)
    s.fork([&] {
      const auto [a, b] = fj::fork_join([] { return 1L; }, [] { return 2L; });
      const lock held(m);
      sum += a + b;
    });
  s.join();
  return sum;
}

// Its result is another each time.
long depends_on_clock() { return static_cast<long>(std::chrono::steady_clock::now().time_since_epoch().count()); }

// A strand asks for what it has.
void no_end() {
  fj::mutex m;
  m.lock();
  while (!m.try_lock()) continue;
}

int print_hashes(std::uint64_t seed, int count) {
  for (int i = 0; i != count; ++i) {
    fj::runtime rt({.schedule = {seed}});
    if (rt.run(a_bit_of_everything) != 28 + 4500 + 15) return 1;
    std::printf("%016llx\n", static_cast<unsigned long long>(rt.stats().schedule_hash));
  }
  return 0;
}

struct named {
  const char* name;
  void (*run)();
};
template <class F>
int explored(F f, const char* name, int argc, char** argv) {
  const unsigned most = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 100;
  const fj::exploration found = fj::explore(f, most);
  std::printf("%s: %u schedules, %u different, %s\n", name, found.schedules, found.different,
              found.failed() ? "found" : "not found");
  return found.failed();
}

#define BUG(NAME) {#NAME, &NAME}
constexpr named bugs[] = {BUG(cockroach_10214),
                          BUG(cockroach_6181),
                          BUG(kubernetes_1321),
                          BUG(kubernetes_6632),
                          BUG(kubernetes_10182),
                          BUG(etcd_6873),
                          BUG(etcd_7492),
                          BUG(moby_28462),
                          BUG(moby_33781),
                          BUG(serving_2137),
                          BUG(grpc_1687),
                          BUG(grpc_2371),
                          BUG(lost_update),
                          BUG(lost_updates_in_a_row),
                          BUG(made_twice),
                          BUG(lost_notification),
                          BUG(if_in_place_of_while),
                          BUG(ready_before_data),
                          BUG(half_of_the_permits),
                          BUG(philosophers)};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    for (const named& each : bugs) std::puts(each.name);
    return 0;
  }
  if (std::strcmp(argv[1], "hash") == 0 && argc > 3)
    return print_hashes(std::strtoull(argv[2], nullptr, 10), std::atoi(argv[3]));
  if (std::strcmp(argv[1], "depends_on_clock") == 0) return explored(depends_on_clock, argv[1], argc, argv);
  if (std::strcmp(argv[1], "no_end") == 0) return explored(no_end, argv[1], argc, argv);
  for (const named& each : bugs) {
    if (std::strcmp(each.name, argv[1]) != 0) continue;
    if (std::strcmp(argv[2], "explore") == 0) return explored(each.run, each.name, argc, argv);
    try {
      fj::runtime(fj::options{.procs = 4}).run(each.run);
    } catch (const std::exception& error) {
      std::printf("%s: %s\n", each.name, error.what());
      return 1;
    }
    return 0;
  }
  return 2;
}
