// Waits for MPI: mpirun -n RANKS waits_test CASE. Rank 0 prints "CASE: right" if all checks of all ranks hold.
#include <forkjoin/go.hpp>
#include <forkjoin/mpi.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using fj::mpi::session;

std::atomic<int> wrong{0};

std::atomic<bool> refuses{false};  // memory
std::atomic<int> refused{0};

void check(bool holds, const char* what, int line) {
  if (holds) return;
  ++wrong;
  std::printf("line %d: %s\n", line, what);
}
#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __LINE__)

int next(const session& mpi) { return (mpi.rank() + 1) % mpi.ranks(); }
int previous(const session& mpi) { return (mpi.rank() + mpi.ranks() - 1) % mpi.ranks(); }

// Calls f in runtimes of one, two and eight P. All ranks have called it for one number before the next.
template <class F>
void for_each_runtime(const session& mpi, F f) {
  for (const unsigned procs : {1u, 2u, 8u}) {
    fj::runtime rt({.procs = procs});
    rt.run(f);
    mpi.barrier();
  }
}

bool says(const std::exception& e, const std::string& text) {
  if (std::string(e.what()).find(text) != std::string::npos) return true;
  std::printf("says: %s\n", e.what());
  return false;
}

// --- the cases ---

struct pair {
  int a;
  double b;
};

void ring(const session& mpi) {
  for_each_runtime(mpi, [&] {
    for (int round = 0; round < 100; ++round) {
      const pair mine{mpi.rank(), 0.5 * round};
      MPI_Request sent = mpi.start_send(mine, next(mpi), round);
      const pair got = mpi.receive<pair>(previous(mpi), round);
      CHECK(got.a == previous(mpi) && got.b == 0.5 * round);
      fj::mpi::wait(sent);
      CHECK(sent == MPI_REQUEST_NULL);
    }
    // 1 MB: MPI asks the receiver before it sends so much.
    std::vector<int> big(1 << 18, mpi.rank()), into(big.size(), -1);
    auto receiver = fj::go([&] { return mpi.receive(into, MPI_ANY_SOURCE, MPI_ANY_TAG); });
    mpi.send(big, next(mpi), 7);
    const MPI_Status status = receiver.get();
    CHECK(status.MPI_SOURCE == previous(mpi) && status.MPI_TAG == 7);
    CHECK(into == std::vector<int>(big.size(), previous(mpi)));
  });
}

// Ten thousand strands wait at once. The messages come in the reverse order. The strands that wait do not keep others
// from their work.
void many(const session& mpi) {
  constexpr int count = 10'000;
  fj::runtime rt({.procs = 2});
  rt.run([&] {
    std::atomic<int> got{0};
    std::vector<fj::future<void>> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(fj::go([&, i] { got += mpi.receive<int>(previous(mpi), i) == i; }));
    }
    fj::yield();
    std::vector<int> data(count);
    std::iota(data.begin(), data.end(), 0);
    std::vector<MPI_Request> sends;
    for (int i = count; i-- > 0;) sends.push_back(mpi.start_send(data[static_cast<std::size_t>(i)], next(mpi), i));
    for (auto& each : all) each.get();
    fj::mpi::wait_all(sends);
    CHECK(got == count);
  });
}

void sets(const session& mpi) {
  for_each_runtime(mpi, [&] {
    std::array<int, 3> into{};
    std::array<MPI_Request, 3> requests;
    for (int i = 0; i < 3; ++i)
      requests[static_cast<std::size_t>(i)] = mpi.start_receive(into[static_cast<std::size_t>(i)], previous(mpi), i);
    fj::channel<int> first_is_there(1);
    auto sender = fj::go([&] {
      fj::sleep_for(3ms);
      mpi.send(11, next(mpi), 1);
      first_is_there.receive();
      mpi.send(10, next(mpi), 0);
      mpi.send(12, next(mpi), 2);
    });
    const fj::mpi::completed first = fj::mpi::wait_any(requests);
    CHECK(first.index == 1 && first.status.MPI_TAG == 1 && into[1] == 11);
    CHECK(requests[1] == MPI_REQUEST_NULL && requests[0] != MPI_REQUEST_NULL && requests[2] != MPI_REQUEST_NULL);
    mpi.barrier();
    first_is_there.send(1);
    const std::vector<MPI_Status> rest = fj::mpi::wait_all(requests);
    CHECK(rest[0].MPI_TAG == 0 && rest[2].MPI_TAG == 2 && into == std::array{10, 11, 12});
    CHECK(fj::mpi::wait_any(requests).index == 3);
    sender.get();

    // Several come at once. (Tried with MPI_Testsome for wait_any, too, which completes all of them: fails.)
    constexpr int count = 100;
    std::vector<int> values(count), seen(count);
    std::vector<MPI_Request> receives, sends;
    for (int i = 0; i < count; ++i)
      receives.push_back(mpi.start_receive(values[static_cast<std::size_t>(i)], previous(mpi), 10 + i));
    auto late = fj::go([&] {
      fj::sleep_for(1ms);
      for (int i = 0; i < count; ++i) sends.push_back(mpi.start_send(count, next(mpi), 10 + i));
      fj::mpi::wait_all(sends);
    });
    for (int i = 0; i < count; ++i) ++seen[fj::mpi::wait_any(receives).index];
    CHECK(seen == std::vector<int>(count, 1) && values == std::vector<int>(count, count));
    late.get();

    int value = mpi.rank() == 0 ? 5 : 0;
    mpi.broadcast(value);
    CHECK(value == 5);
    double sum = mpi.rank() + 0.5;
    mpi.all_reduce(sum, MPI_SUM);
    CHECK(sum == 0.5 * mpi.ranks() * mpi.ranks());
    std::vector<long> most{mpi.rank(), -mpi.rank()};
    mpi.all_reduce(most, MPI_MAX);
    CHECK(most == std::vector<long>{mpi.ranks() - 1, 0});
    std::vector<int> all(static_cast<std::size_t>(mpi.ranks()));
    mpi.all_gather(mpi.rank() * 3, all);
    for (int r = 0; r < mpi.ranks(); ++r) CHECK(all[static_cast<std::size_t>(r)] == 3 * r);
    const int mine = mpi.rank();
    std::vector<int> exclusive{-1};
    MPI_Request scan = mpi.start("MPI_Iexscan", [&](MPI_Comm c, MPI_Request* r) {
      return MPI_Iexscan(&mine, exclusive.data(), 1, MPI_INT, MPI_SUM, c, r);
    });
    fj::mpi::wait(scan);
    CHECK(exclusive[0] == (mine == 0 ? -1 : mine * (mine - 1) / 2));
  });
}

template <class Error, class F>
bool throws(F f) {
  try {
    f();
  } catch (const Error&) {
    return true;
  }
  return false;
}

// What a limit leaves behind.
void limits(const session& mpi) {
  for_each_runtime(mpi, [&] {
    // A receive that is cancelled takes no message of later.
    int into = 0;
    CHECK(throws<fj::timed_out>([&] { mpi.receive(into, previous(mpi), 1, {.until = fj::now() + 5ms}); }));
    fj::stop_source stopper;
    const fj::stop_token token = stopper.get_token();
    auto stopped = fj::go([&] {
      int never = 0;
      return throws<fj::cancelled>([&] { mpi.receive(never, previous(mpi), 1, {.stop = &token}); });
    });
    fj::sleep_for(5ms);
    stopper.request_stop();
    CHECK(stopped.get());
    mpi.barrier();
    const int one = 1;
    MPI_Request sent = mpi.start_send(one, next(mpi), 1);
    CHECK(mpi.receive<int>(previous(mpi), 1, {.until = fj::now() + 60s}) == 1);
    fj::mpi::wait(sent);

    // Other waits leave the request as it was.
    std::array<MPI_Request, 2> requests{mpi.start_receive(into, previous(mpi), 2), MPI_REQUEST_NULL};
    CHECK(throws<fj::timed_out>([&] { fj::mpi::wait(requests[0], {.until = fj::now() + 2ms}); }));
    CHECK(throws<fj::timed_out>([&] { fj::mpi::wait_any(requests, {.until = fj::now() + 2ms}); }));
    CHECK(throws<fj::cancelled>([&] { fj::mpi::wait_all(requests, {.stop = &token}); }));
    CHECK(requests[0] != MPI_REQUEST_NULL);
    mpi.barrier();
    const int two = 2;
    MPI_Request also = mpi.start_send(two, next(mpi), 2);
    fj::mpi::wait(requests[0]);
    CHECK(into == 2 && requests[0] == MPI_REQUEST_NULL);
    fj::mpi::wait(also);

    // A send that no one receives goes on. 16 MB do not fit any buffer of MPI's.
    if (mpi.ranks() == 1) return;
    std::vector<double> big(1 << 21, 3.5), room(big.size());
    MPI_Request goes_on = MPI_REQUEST_NULL;
    try {
      mpi.send(big, next(mpi), 3, {.until = fj::now() + 5ms});
      CHECK(!"a send that no one receives returns");
    } catch (const fj::mpi::unfinished& e) {
      CHECK(says(e, "send to rank " + std::to_string(next(mpi)) + ", tag 3"));
      goes_on = e.request;
    }
    mpi.barrier();
    mpi.receive(room, previous(mpi), 3);
    fj::mpi::wait(goes_on);
    CHECK(room == big);
  });
}

// A time and a message end many waits at the same moment: each ends by one of them, and no message is lost.
void races(const session& mpi) {
  constexpr int count = 300;
  for_each_runtime(mpi, [&] {
    std::atomic<int> received{0}, late{0};
    mpi.barrier();
    const auto begin = fj::now();
    std::vector<fj::future<void>> all;
    std::vector<int> into(count);
    std::vector<MPI_Request> sends;
    for (int i = 0; i < count; ++i) {
      all.push_back(fj::go([&, i] {
        int& mine = into[static_cast<std::size_t>(i)];
        try {
          mpi.receive(mine, previous(mpi), i, {.until = begin + 10us * i});
          ++received;
        } catch (const fj::timed_out&) {
          ++late;
          mpi.receive(mine, previous(mpi), i);
        }
        CHECK(mine == i + 1);
      }));
    }
    std::vector<int> data(count);
    for (int i = count; i-- > 0;) {
      data[static_cast<std::size_t>(i)] = i + 1;
      sends.push_back(mpi.start_send(data[static_cast<std::size_t>(i)], next(mpi), i));
      if (i % 10 == 0) fj::sleep_for(50us);
    }
    for (auto& each : all) each.get();
    fj::mpi::wait_all(sends);
    CHECK(received + late == count);
  });
}

void errors(const session& mpi) {
  for_each_runtime(mpi, [&] {
    try {
      mpi.send(1, mpi.ranks() + 3, 5);
      CHECK(!"a rank that is none gets a message");
    } catch (const fj::mpi::error& e) {
      int what = 0;
      MPI_Error_class(e.code(), &what);
      CHECK(what == MPI_ERR_RANK);
      CHECK(says(e, "fj::mpi::session::send to rank " + std::to_string(mpi.ranks() + 3) + ", tag 5, at "));
    }
    if (mpi.ranks() == 1) return;  // Open MPI 4.1 cuts what a rank sends to itself, and says nothing
    const std::array<int, 3> long_one{1, 2, 3};
    std::array<int, 2> into{};
    for (const bool waits : {true, false}) {  // by the poller, and without a wait
      MPI_Request sent = MPI_REQUEST_NULL;
      auto sender = fj::go([&] {
        if (waits) fj::sleep_for(3ms);
        sent = mpi.start_send(long_one, next(mpi), 9);
      });
      if (!waits) {
        sender.wait();
        mpi.barrier();
      }
      try {
        mpi.receive(into, previous(mpi), 9);
        CHECK(!"a message that is too long is received");
      } catch (const fj::mpi::error& e) {
        int what = 0;
        MPI_Error_class(e.code(), &what);
        CHECK(what == MPI_ERR_TRUNCATE && says(e, "receive from rank "));
      }
      sender.get();
      fj::mpi::wait(sent);
    }
  });
}

// Threads outside of any runtime, and strands of several runtimes at once.
// A fiber that waits makes a request a case of a select.
void selects(const session& mpi) {
  for_each_runtime(mpi, [&] {
    int got = -1;
    MPI_Request request = mpi.start_receive(got, previous(mpi), 5);
    fj::future<MPI_Status> came = fj::go([&] { return fj::mpi::wait(request); });
    fj::channel<int> orders;
    const auto first = [&](std::chrono::milliseconds most) {
      char by = 'o';
      fj::select(fj::on_receive(orders, [](std::optional<int>) {}), fj::on_ready(came, [&] { by = 'm'; }),
                 fj::after(most, [&] { by = 't'; }));
      return by;
    };
    CHECK(first(5ms) == 't');
    mpi.barrier();  // none of them has got the message
    mpi.send(mpi.rank(), next(mpi), 5);
    CHECK(first(60'000ms) == 'm');
    CHECK(came.get().MPI_SOURCE == previous(mpi));
    CHECK(got == previous(mpi));
  });
}

void outside(const session& mpi) {
  std::vector<std::jthread> threads;
  std::atomic<int> got{0};
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const auto receive = [&] {
        got += mpi.receive<int>(previous(mpi), i);
        int never = 0;
        CHECK(throws<fj::timed_out>([&] { mpi.receive(never, previous(mpi), 50 + i, {.until = fj::now() + 3ms}); }));
      };
      if (i % 2) return receive();
      fj::runtime rt({.procs = 2});
      rt.run(receive);
    });
  }
  std::this_thread::sleep_for(5ms);
  for (int i = 0; i < 6; ++i) mpi.send(1, next(mpi), i);
  threads.clear();
  CHECK(got == 6);
}

// A request that has completed does not suspend the strand that waits for it.
void ready(const session& mpi) {
  fj::runtime rt({.procs = 1});
  rt.run([&] {
    int into = 0;
    const int four = 4;
    MPI_Request received = mpi.start_receive(into, previous(mpi), 1), sent = mpi.start_send(four, next(mpi), 1);
    mpi.barrier();
    fj::mpi::wait(sent);
    fj::sleep_for(20ms);  // the poller has ended, and the message has come
    mpi.call([&](MPI_Comm c) {
      int any = 0;
      return MPI_Iprobe(MPI_ANY_SOURCE, 99, c, &any, MPI_STATUS_IGNORE);
    });
    const auto before = rt.stats().procs[0].suspensions;
    fj::mpi::wait(received);
    CHECK(rt.stats().procs[0].suspensions == before && into == 4);
  });
}

// What f takes, as a share of one CPU.
template <class F>
double share_of_cpu(F f) {
  const auto begin = fj::now();
  const std::clock_t cpu = std::clock();
  f();
  return static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC /
         std::chrono::duration<double>(fj::now() - begin).count();
}

// While all strands wait, the rank takes less than 3 % of a CPU; on a busy machine, where each sleep of a worker costs
// more, at most twice as much as a strand that sleeps for 16 ms again and again. While none waits, nothing polls.
// (Tried with a longest pause of 1 ms: fails.)
void calm(const session& mpi) {
  fj::runtime rt({.procs = 2});
  rt.run([&] {
    double share = 1, asleep = 1;
    for (int round = 0; round < 5; ++round) {
      asleep = std::min(asleep, share_of_cpu([] {
                          for (int i = 0; i < 60; ++i) fj::sleep_for(16ms);
                        }));
      auto waits = fj::go([&] { return mpi.receive<int>(previous(mpi), 2); });
      fj::sleep_for(200ms);
      share = std::min(share, share_of_cpu([] { fj::sleep_for(1s); }));
      mpi.barrier();
      const int two = 2;
      MPI_Request sent = mpi.start_send(two, next(mpi), 2);
      CHECK(waits.get() == 2);
      fj::mpi::wait(sent);
      double most = share > 0.03 && share > 2 * asleep;  // all ranks go on, or none
      mpi.all_reduce(most, MPI_MAX);
      if (most == 0) break;
    }
    std::printf("rank %d: %.1f %% of a CPU; a strand that sleeps: %.1f %%\n", mpi.rank(), 100 * share, 100 * asleep);
    CHECK(share <= 0.03 || share <= 2 * asleep);
    fj::sleep_for(50ms);
    CHECK(fj::count_fibers().all() == 1);  // this one
  });
}

// Reports say where strands wait.
void names(const session& mpi) {
  fj::runtime rt({.procs = 1});
  rt.run([&] {
    auto waits = fj::go([&] { return mpi.receive<int>(previous(mpi), 7); });
    const std::string wanted =
        "wait in fj::mpi::session::receive from rank " + std::to_string(previous(mpi)) + ", tag 7, called by ";
    const auto end = fj::now() + 20s;
    std::string report;
    while (report.find(wanted) == std::string::npos && fj::now() < end) {
      fj::sleep_for(5ms);
      report = fj::describe_fibers();
    }
    CHECK(report.find(wanted) != std::string::npos && report.find("waits_test.cpp:") != std::string::npos);
    mpi.barrier();
    const int three = 3;
    MPI_Request sent = mpi.start_send(three, next(mpi), 7);
    waits.get();
    fj::mpi::wait(sent);
  });
}

// Without memory for a wait: polls. (Tried with one that throws.)
void no_memory(const session& mpi) {
  fj::runtime rt({.procs = 1});
  rt.run([&] {
    fj::go([] {}).get();  // so the runtime has a thread before memory is refused to it
    std::optional<fj::future<int>> before;
    int got = 0;
    for (int i = 0; i < 20; ++i) {
      if (i == 10) before = fj::go([&] { return mpi.receive<int>(previous(mpi), 3); });  // its poller goes on, too
      fj::sleep_for(2ms);
      MPI_Request sent = mpi.start_send(i, next(mpi), 1);
      int never = 0;
      bool timed_out = false;
      refuses = true;
      mpi.receive(got, previous(mpi), 1);
      try {
        mpi.receive(never, previous(mpi), 2, {.until = fj::now() + 3ms});
      } catch (const fj::timed_out&) {
        timed_out = true;
      }
      fj::mpi::wait(sent);
      refuses = false;
      CHECK(got == i);
      CHECK(timed_out);
    }
    CHECK(refused >= 20);
    mpi.send(5, next(mpi), 3);
    CHECK(before->get() == 5);
  });
}

// A message with the wrong tag. The wait's time finds it at the receiver; the session's end says who has sent it.
void lost(const session& mpi) {
  if (mpi.ranks() == 1) return;  // MPICH keeps no message of a rank to itself
  fj::run([&] {
    const int one = 1;
    MPI_Request sent = mpi.start_send(one, next(mpi), 8);
    CHECK(throws<fj::timed_out>([&] { mpi.receive<int>(previous(mpi), 7, {.until = fj::now() + 50ms}); }));
    fj::mpi::wait(sent);
  });
}

// One rank ends, and the others wait for it: the job ends.
void dies(const session& mpi) {
  if (mpi.rank() == mpi.ranks() - 1) _exit(3);
  fj::run([&] { mpi.receive<int>(mpi.ranks() - 1); });
}
void throws_through(const session& mpi) {
  if (mpi.rank() == mpi.ranks() - 1) throw std::runtime_error("ends");
  fj::run([&] { mpi.receive<int>(mpi.ranks() - 1); });
}

const std::map<std::string, void (*)(const session&)> cases = {
    {"ring", ring},     {"many", many},           {"sets", sets}, {"limits", limits},   {"races", races},
    {"errors", errors}, {"ready", ready},         {"calm", calm}, {"outside", outside}, {"selects", selects},
    {"names", names},   {"no_memory", no_memory}, {"lost", lost}, {"dies", dies},       {"throws", throws_through},
};

// Without a session, and with too low a level of threads.
int misuse() {
  MPI_Request none = MPI_REQUEST_NULL;
  try {
    fj::mpi::wait(none);
    CHECK(!"a wait without a session");
  } catch (const std::logic_error& e) {
    CHECK(says(e, "fj::mpi::wait: there is no fj::mpi::session"));
  }
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  try {
    const session mpi;
    CHECK(level >= MPI_THREAD_SERIALIZED);
  } catch (const std::logic_error& e) {
    CHECK(says(e, "MPI runs with MPI_THREAD_FUNNELED, and strands need MPI_THREAD_SERIALIZED"));
  }
  MPI_Finalize();
  std::puts(wrong == 0 ? "misuse: right" : "misuse: wrong");
  return wrong != 0;
}

}  // namespace

// Not inlined: g++ would see malloc and free in place of a pair of new and delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  refused += refuses;
  void* const got = refuses ? nullptr : std::malloc(size);
  if (!got) throw std::bad_alloc();
  return got;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "misuse") return misuse();
  if (!cases.contains(name)) return 2;
  int failed = 0;
  try {
    const session mpi;
    try {
      cases.at(name)(mpi);
    } catch (const std::exception& e) {  // the session ends the job, and nothing is said afterwards
      std::printf("%s: %s\n", name.c_str(), e.what());
      std::fflush(stdout);
      throw;
    }
    failed = wrong;
    mpi.all_reduce(failed, MPI_SUM);
    if (mpi.rank() == 0) std::printf("%s: %s\n", name.c_str(), failed == 0 ? "right" : "wrong");
  } catch (const std::exception& e) {
    std::printf("%s: %s\n", name.c_str(), e.what());
    return 4;
  }
  return failed != 0;
}
