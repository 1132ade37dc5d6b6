// What lost_fibers says: of small programs that leak fibers, most of which it must find, with the lines of the wait and
// of go; and of programs whose fibers only wait, of which it must report none. The leaks are those that are known of
// Go's programs: senders without a receiver, groups that never end, locks that are not released, cycles.
//
// Each program runs in a process of its own. A line that ends in "waits" or "starts" in a comment is where a lost fiber
// waits or was started: the test reads that from this file.
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/sockets.hpp"
#include "test/support.hpp"

namespace {

using namespace std::chrono_literals;

using channel = fj::channel<int>;
using test::with_procs;

void receive(const channel& c) { static_cast<void>(c.receive()); }

// Programs that leak.

void abandoned_sender(fj::runtime& rt) {
  const channel c(0);
  static_cast<void>(rt.go([=] {  // starts
    c.send(1);                   // waits
  }));
}

void forgotten_receiver(fj::runtime& rt) {
  const channel c(0);
  static_cast<void>(rt.go([=] {      // starts
    static_cast<void>(c.receive());  // waits
  }));
}

void future_is_kept(fj::runtime& rt) {
  static std::vector<fj::future<void>> kept;
  const channel c(0);
  kept.push_back(rt.go([=] {         // starts
    static_cast<void>(c.receive());  // waits
  }));
}

// The one that could cancel has gone.
void lost_cancel(fj::runtime& rt) {
  fj::stop_source source;
  static_cast<void>(rt.go([token = source.get_token()] {  // starts
    const channel never(0);
    static_cast<void>(never.receive({.stop = &token}));  // waits
  }));
}

void early_return_in_fan_in(fj::runtime& rt) {
  rt.run([] {
    const channel results(0);
    for (int i = 0; i < 5; ++i)
      static_cast<void>(fj::go([=] {  // starts
        results.send(i);              // waits
      }));
    receive(results);
  });
}

void group_never_ends(fj::runtime& rt) {
  auto group = std::make_shared<fj::wait_group>();
  group->add(2);
  static_cast<void>(rt.go([=] { group->done(); }));
  static_cast<void>(rt.go([=] {  // starts
    group->wait();               // waits
  }));
}

void mutex_never_unlocked(fj::runtime& rt) {
  auto m = std::make_shared<fj::mutex>();
  rt.go([=] { m->lock(); }).get();
  static_cast<void>(rt.go([=] {  // starts
    m->lock();                   // waits
  }));
}

void condition_without_notifier(fj::runtime& rt) {
  struct queue {
    fj::mutex m;
    fj::condition_variable filled;
  };
  auto q = std::make_shared<queue>();
  static_cast<void>(rt.go([=] {  // starts
    std::unique_lock lock(q->m);
    q->filled.wait(lock);  // waits
  }));
}

void cycle_of_channels(fj::runtime& rt) {
  const channel a(0), b(0);
  static_cast<void>(rt.go([=] {      // starts
    static_cast<void>(a.receive());  // waits
    b.send(1);
  }));
  static_cast<void>(rt.go([=] {      // starts
    static_cast<void>(b.receive());  // waits
    a.send(1);
  }));
}

void thousands_at_once(fj::runtime& rt) {
  rt.run([] {
    const channel c(0);
    for (int i = 0; i < 2000; ++i)
      static_cast<void>(fj::go([=] {  // starts
        c.send(i);                    // waits
      }));
  });
}

void second_result(fj::runtime& rt) {
  const channel result(1);
  static_cast<void>(rt.go([=] {  // starts
    result.send(1);
    result.send(2);  // waits
  }));
}

void never_closed(fj::runtime& rt) {
  const channel jobs(3);
  for (int i = 0; i < 3; ++i) jobs.send(i);
  static_cast<void>(rt.go([=] {       // starts
    while (jobs.receive()) continue;  // waits
  }));
}

void select_of_dead(fj::runtime& rt) {
  const channel a(0), b(0);
  static_cast<void>(rt.go([=] {                                                  // starts
    fj::select(fj::on_receive(a, [](auto) {}), fj::on_receive(b, [](auto) {}));  // waits
  }));
}

void permit_not_given_back(fj::runtime& rt) {
  auto permits = std::make_shared<fj::semaphore>(1);
  rt.go([=] {
      permits->acquire();
      try {
        throw std::runtime_error("a job failed");
      } catch (const std::runtime_error&) {}
    }).get();
  static_cast<void>(rt.go([=] {  // starts
    permits->acquire();          // waits
  }));
}

void latch_counts_too_many(fj::runtime& rt) {
  auto latch = std::make_shared<fj::latch>(3);
  for (int i = 0; i < 2; ++i) static_cast<void>(rt.go([=] { latch->count_down(); }));
  static_cast<void>(rt.go([=] {  // starts
    latch->wait();               // waits
  }));
}

void party_missing(fj::runtime& rt) {
  auto barrier = std::make_shared<fj::barrier<>>(3);
  for (int i = 0; i < 2; ++i)
    static_cast<void>(rt.go([=] {  // starts
      barrier->arrive_and_wait();  // waits
    }));
}

void future_of_a_lost_fiber(fj::runtime& rt) {
  rt.run([] {
    const channel c(0);
    auto inner = fj::go([=] {  // starts
      c.send(1);               // waits
    });
    static_cast<void>(fj::go([f = std::move(inner)]() mutable {  // starts
      f.get();                                                   // waits
    }));
  });
}

void promise_of_its_own(fj::runtime& rt) {
  static_cast<void>(rt.go([] {  // starts
    fj::promise<int> p;
    auto f = p.get_future();
    f.get();  // waits
  }));
}

void writer_behind_reader(fj::runtime& rt) {
  auto m = std::make_shared<fj::shared_mutex>();
  rt.go([=] { m->lock_shared(); }).get();
  static_cast<void>(rt.go([=] {  // starts
    m->lock();                   // waits
  }));
}

void locked_by_itself(fj::runtime& rt) {
  static_cast<void>(rt.go([] {  // starts
    fj::mutex m;
    m.lock();
    m.lock();  // waits
  }));
}

void two_locks_in_two_orders(fj::runtime& rt) {
  struct accounts {
    fj::mutex a, b;
    fj::latch both{2};
  };
  auto all = std::make_shared<accounts>();
  static_cast<void>(rt.go([=] {  // starts
    all->a.lock();
    all->both.arrive_and_wait();
    all->b.lock();  // waits
  }));
  static_cast<void>(rt.go([=] {  // starts
    all->b.lock();
    all->both.arrive_and_wait();
    all->a.lock();  // waits
  }));
}

// The server drops a question, and with it the channel for the answer.
void no_answer(fj::runtime& rt) {
  fj::channel<channel> questions(0);
  static_cast<void>(rt.go([=] {  // starts
    const channel answer(0);
    questions.send(answer);
    static_cast<void>(answer.receive());  // waits
  }));
  rt.go([=] { static_cast<void>(questions.receive()); }).get();
}

void stages_behind_one_that_ended(fj::runtime& rt) {
  const channel a(0), b(0);
  static_cast<void>(rt.go([=] {              // starts
    for (int i = 0; i < 10; ++i) a.send(i);  // waits
  }));
  static_cast<void>(rt.go([=] {               // starts
    while (auto v = a.receive()) b.send(*v);  // waits
  }));
  rt.go([=] { receive(b); }).get();
}

void nobody_collects(fj::runtime& rt) {
  const channel jobs(8), results(2);
  for (int i = 0; i < 8; ++i) jobs.send(i);
  jobs.close();
  for (int i = 0; i < 3; ++i)
    static_cast<void>(rt.go([=] {                            // starts
      while (auto job = jobs.receive()) results.send(*job);  // waits
    }));
}

void subscriber_has_gone(fj::runtime& rt) {
  auto subscribers = std::make_shared<std::vector<channel>>();
  for (int i = 0; i < 3; ++i) subscribers->emplace_back(1);
  static_cast<void>(rt.go([=] {  // starts
    for (int i = 0; i < 2; ++i)
      for (const channel& each : *subscribers) each.send(i);  // waits
  }));
}

void answer_after_a_timeout(fj::runtime& rt) {
  rt.run([] {
    const channel result(0), work(0);
    static_cast<void>(fj::go([=] {  // starts
      receive(work);
      result.send(1);  // waits
    }));
    fj::select(fj::on_receive(result, [](auto) {}), fj::after(1ms, [] {}));
    work.send(1);
  });
}

void return_at_the_first_error(fj::runtime& rt) {
  rt.run([] {
    const channel errors(0);
    for (int i = 0; i < 3; ++i)
      static_cast<void>(fj::go([=] {  // starts
        errors.send(i);               // waits
      }));
    if (errors.receive()) return;
    receive(errors);
  });
}

void done_is_never_closed(fj::runtime& rt) {
  auto done = std::make_shared<channel>(0);
  for (int i = 0; i < 4; ++i)
    static_cast<void>(rt.go([=] {          // starts
      static_cast<void>(done->receive());  // waits
    }));
}

void channel_that_is_none(fj::runtime& rt) {
  static_cast<void>(rt.go([] {  // starts
    const fj::receive_channel<int> none;
    static_cast<void>(none.receive());  // waits
  }));
}

void quit_after_the_end(fj::runtime& rt) {
  const channel quit(0);
  rt.go([=] { static_cast<void>(quit.try_receive()); }).get();
  static_cast<void>(rt.go([=] {  // starts
    quit.send(1);                // waits
  }));
}

void no_acknowledgement(fj::runtime& rt) {
  const channel to(0), back(0);
  static_cast<void>(rt.go([=] {  // starts
    to.send(1);
    static_cast<void>(back.receive());  // waits
  }));
  rt.go([=] { receive(to); }).get();
}

void waits_for_any_of_lost(fj::runtime& rt) {
  static_cast<void>(rt.go([] {  // starts
    std::vector<fj::promise<int>> promises(2);
    std::vector<fj::future<int>> futures;
    for (auto& each : promises) futures.push_back(each.get_future());
    static_cast<void>(fj::wait_any(futures));  // waits
  }));
}

void list_of_dead_cases(fj::runtime& rt) {
  static_cast<void>(rt.go([] {  // starts
    const channel a(0), b(0);
    fj::select_list cases;
    cases.on_receive(a, [](auto) {});
    cases.on_receive(b, [](auto) {});
    cases.select();  // waits
  }));
}

void more_than_fits(fj::runtime& rt) {
  const channel c(2);
  static_cast<void>(rt.go([=] {             // starts
    for (int i = 0; i < 3; ++i) c.send(i);  // waits
  }));
}

void chain_of_futures(fj::runtime& rt) {
  rt.run([] {
    const channel c(0);
    auto last = fj::go([=] {           // starts
      return c.receive().value_or(0);  // waits
    });
    for (int i = 0; i < 3; ++i)
      last = fj::go([f = std::move(last)]() mutable {  // starts
        return f.get();                                // waits
      });
    static_cast<void>(std::move(last));
  });
}

// Objects that keep each other, and that nothing else keeps.
void cycle_on_the_heap(fj::runtime& rt) {
  struct session {
    std::shared_ptr<session> peer;
    channel messages{0};
  };
  auto a = std::make_shared<session>(), b = std::make_shared<session>();
  a->peer = b;
  b->peer = a;
  static_cast<void>(rt.go([a] {                // starts
    static_cast<void>(a->messages.receive());  // waits
  }));
}

void both_branches_of_a_fork(fj::runtime& rt) {
  static_cast<void>(rt.go([] {  // starts
    fj::fork_join(
        [] {
          const channel c(0);
          static_cast<void>(c.receive());  // waits
        },
        [] {
          const channel c(0);
          static_cast<void>(c.receive());  // waits
        });
  }));
}

void children_of_a_scope(fj::runtime& rt) {
  static_cast<void>(rt.go([] {  // starts
    fj::with_scope([](auto& s) {
      for (int i = 0; i < 2; ++i)
        s.fork([] {
          const channel c(0);
          static_cast<void>(c.receive());  // waits
        });
    });
  }));
}

void parent_has_returned(fj::runtime& rt) {
  rt.go([] {
      const channel c(0);
      static_cast<void>(fj::go([=] {  // starts
        c.send(1);                    // waits
      }));
    }).get();
}

void lock_of_a_lost_fiber(fj::runtime& rt) {
  struct state {
    fj::mutex m;
    channel c{0};
  };
  auto s = std::make_shared<state>();
  const channel held(0);
  static_cast<void>(rt.go([=] {  // starts
    const std::scoped_lock lock(s->m);
    held.send(1);
    static_cast<void>(s->c.receive());  // waits
  }));
  receive(held);
  static_cast<void>(rt.go([=] {  // starts
    s->m.lock();                 // waits
  }));
}

void callback_is_dropped(fj::runtime& rt) {
  std::function<void()> on_ready;
  static_cast<void>(rt.go([&] {  // starts
    const channel ready(0);
    on_ready = [=] { ready.send(1); };
    static_cast<void>(ready.receive());  // waits
  }));
  while (fj::count_fibers().waiting == 0) std::this_thread::yield();
  on_ready = nullptr;
}

void cache_is_cleared(fj::runtime& rt) {
  std::map<int, std::shared_ptr<channel>> pending;
  for (int i = 0; i < 3; ++i) {
    auto& answer = pending[i] = std::make_shared<channel>(0);
    static_cast<void>(rt.go([answer] {       // starts
      static_cast<void>(answer->receive());  // waits
    }));
  }
}

struct leaking {
  const char* name;
  void (*body)(fj::runtime&);
  std::size_t lost;  // fibers
};
#define LEAKING(name, lost) {#name, name, lost}

const leaking all_leaking[] = {
    LEAKING(abandoned_sender, 1),
    LEAKING(forgotten_receiver, 1),
    LEAKING(future_is_kept, 1),
    LEAKING(lost_cancel, 1),
    LEAKING(early_return_in_fan_in, 4),
    LEAKING(group_never_ends, 1),
    LEAKING(mutex_never_unlocked, 1),
    LEAKING(condition_without_notifier, 1),
    LEAKING(cycle_of_channels, 2),
    LEAKING(thousands_at_once, 2000),
    LEAKING(second_result, 1),
    LEAKING(never_closed, 1),
    LEAKING(select_of_dead, 1),
    LEAKING(permit_not_given_back, 1),
    LEAKING(latch_counts_too_many, 1),
    LEAKING(party_missing, 2),
    LEAKING(future_of_a_lost_fiber, 2),
    LEAKING(promise_of_its_own, 1),
    LEAKING(writer_behind_reader, 1),
    LEAKING(locked_by_itself, 1),
    LEAKING(two_locks_in_two_orders, 2),
    LEAKING(no_answer, 1),
    LEAKING(stages_behind_one_that_ended, 2),
    LEAKING(nobody_collects, 3),
    LEAKING(subscriber_has_gone, 1),
    LEAKING(answer_after_a_timeout, 1),
    LEAKING(return_at_the_first_error, 2),
    LEAKING(done_is_never_closed, 4),
    LEAKING(channel_that_is_none, 1),
    LEAKING(quit_after_the_end, 1),
    LEAKING(no_acknowledgement, 1),
    LEAKING(waits_for_any_of_lost, 1),
    LEAKING(list_of_dead_cases, 1),
    LEAKING(more_than_fits, 1),
    LEAKING(chain_of_futures, 4),
    LEAKING(cycle_on_the_heap, 1),
    LEAKING(both_branches_of_a_fork, 2),
    LEAKING(children_of_a_scope, 2),
    LEAKING(parent_has_returned, 1),
    LEAKING(lock_of_a_lost_fiber, 2),
    LEAKING(callback_is_dropped, 1),
    LEAKING(cache_is_cleared, 3),
};

// References that a look cannot see, as the page "Leaks" says (What is not promised): these fibers are reported, though
// the program could still end their waits.

volatile std::uintptr_t kept_in_another_form = 0;

void address_in_an_xor_list(fj::runtime& rt) {
  const auto* const c = new channel(0);
  kept_in_another_form = reinterpret_cast<std::uintptr_t>(c) ^ std::uintptr_t{0x5555'5555'5555'5555};
  static_cast<void>(rt.go([c = *c] {  // starts
    static_cast<void>(c.receive());   // waits
  }));
}

void address_below_a_tag(fj::runtime& rt) {
  const auto* const c = new channel(0);
  kept_in_another_form = reinterpret_cast<std::uintptr_t>(c) | std::uintptr_t{0xab} << 56;
  static_cast<void>(rt.go([c = *c] {  // starts
    static_cast<void>(c.receive());   // waits
  }));
}

void address_in_the_kernel(fj::runtime& rt) {
  auto* const c = new channel(0);
  const int poller = epoll_create1(0), event = eventfd(0, 0);
  epoll_event wanted{.events = EPOLLIN, .data = {.ptr = c}};
  epoll_ctl(poller, EPOLL_CTL_ADD, event, &wanted);
  wanted.data.ptr = nullptr;
  static_cast<void>(rt.go([c = *c] {  // starts
    static_cast<void>(c.receive());   // waits
  }));
}

const leaking all_unseen[] = {
    LEAKING(address_in_an_xor_list, 1),
    LEAKING(address_below_a_tag, 1),
    LEAKING(address_in_the_kernel, 1),
};

// Programs whose fibers only wait: something that can still run reaches what they wait for. Each makes it so that
// nothing else does, starts so many fibers as its line in the table says, and calls look() while they wait.

using looks = const std::function<void()>&;

void held_by_main(fj::runtime& rt, looks look) {
  const channel c(0);
  auto waits = rt.go([=] { receive(c); });
  look();
  c.send(1);
}

channel global;
void held_by_a_global(fj::runtime& rt, looks look) {
  global = channel(0);
  static_cast<void>(rt.go([] { receive(global); }));
  look();
}

thread_local channel of_thread;
void held_by_a_thread(fj::runtime& rt, looks look) {
  std::atomic<bool> end{false}, there{false};
  const auto waits_with = [&](channel& c) {
    c = channel(0);
    static_cast<void>(rt.go([c] { receive(c); }));
    there = true;
    while (!end) std::this_thread::sleep_for(1ms);
    c.send(1);
  };
  std::thread in_variable([&] { waits_with(of_thread); });
  while (!there.exchange(false)) std::this_thread::yield();
  std::thread in_frame([&] {
    channel mine;
    waits_with(mine);
  });
  while (!there) std::this_thread::yield();
  look();
  end = true;
  in_variable.join();
  in_frame.join();
}

// A value that is nowhere but in a register, or below the stack pointer, of a thread that computes.
void held_by_a_register(fj::runtime& rt, looks look) {
  std::atomic<bool> end{false}, there{false};
  const auto compute = [&] {
    auto c = std::make_unique<channel>(0);
    static_cast<void>(rt.go([c = *c] { receive(c); }));
    there = true;
    const channel* const raw = c.release();
    while (!end) continue;
    raw->send(1);
    delete raw;
  };
  std::thread outside(compute);
  while (!there.exchange(false)) std::this_thread::yield();
  auto inside = rt.go(compute);
  while (!there) std::this_thread::yield();
  look();
  end = true;
  outside.join();
  inside.get();
}

void held_by_the_heap(fj::runtime& rt, looks look) {
  auto all = std::make_unique<std::map<int, std::list<std::unique_ptr<channel>>>>();
  for (int i = 0; i < 10; ++i) {
    (*all)[i].push_back(std::make_unique<channel>(0));
    static_cast<void>(rt.go([c = *(*all)[i].back()] { receive(c); }));
  }
  look();
}

void held_by_a_large_block(fj::runtime& rt, looks look) {
  std::vector<channel> all(100'000);
  all[70'000] = channel(0);
  static_cast<void>(rt.go([c = all[70'000]] { receive(c); }));
  look();
}

void held_by_another_arena(fj::runtime& rt, looks look) {
  std::unordered_map<int, std::unique_ptr<channel>>* all = nullptr;
  std::thread([&] {
    all = new std::unordered_map<int, std::unique_ptr<channel>>;
    for (int i = 0; i < 100; ++i) (*all)[i] = std::make_unique<channel>(0);
  }).join();
  static_cast<void>(rt.go([c = *(*all)[50]] { receive(c); }));
  look();
  delete all;
}

void held_by_a_mapping(fj::runtime& rt, looks look) {
  for (const int how : {MAP_PRIVATE, MAP_SHARED}) {
    void* const pages = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);
    auto* const c = new (static_cast<char*>(pages) + (1 << 19)) channel(0);
    static_cast<void>(rt.go([c = *c] { receive(c); }));
  }
  look();
}

// A table that the program has filled, and protects.
void held_by_a_protected_page(fj::runtime& rt, looks look) {
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* const c = new (page) channel(0);
  static_cast<void>(rt.go([c = *c] { receive(c); }));
  mprotect(page, 4096, PROT_READ);
  look();
  c->send(1);
}

// What another fiber's function has captured.
void borrowed_by_a_sleeper(fj::runtime& rt, looks look) {
  auto waits = rt.go([c = std::make_unique<channel>(0), stays = std::make_unique<int>(0)] {
    auto sends = fj::go([&c] {
      fj::sleep_for(1h);
      c->send(1);
    });
    receive(*c);
    sends.get();
  });
  look();
}

void held_by_a_sleeper(fj::runtime& rt, looks look) {
  const auto start = [&rt] {
    const channel c(0);
    static_cast<void>(rt.go([=] {
      fj::sleep_for(1h);
      c.send(1);
    }));
    static_cast<void>(rt.go([=] { receive(c); }));
  };
  start();
  look();
}

void with_a_deadline(fj::runtime& rt, looks look) {
  static_cast<void>(rt.go([] {
    const channel c(0);
    static_cast<void>(c.receive({.until = std::chrono::steady_clock::now() + 1h}));
  }));
  static_cast<void>(rt.go([] {
    const channel c(0);
    fj::select(fj::on_receive(c, [](auto) {}), fj::after(1h, [] {}));
  }));
  look();
}

void on_a_descriptor(fj::runtime& rt, looks look) {
  auto pipe = test::make_pipe();
  auto reads = rt.go([from = std::move(pipe.first)]() mutable {
    char byte;
    fj::read(from, &byte, 1);
  });
  const channel c(0);
  static_cast<void>(rt.go([from = test::make_pipe(), c] {
    char byte;
    fj::read(from.first, &byte, 1);
    c.send(1);
  }));
  static_cast<void>(rt.go([c] { receive(c); }));
  look();
}

// The end of the runtime asks the first to stop, the future the second, the program the third.
void with_a_token(fj::runtime& rt, looks look) {
  const auto until_stopped = [](fj::stop_token stop) {
    try {
      static_cast<void>(channel(0).receive({.stop = &stop}));
    } catch (const fj::cancelled&) {}
  };
  static_cast<void>(rt.go(until_stopped));
  auto held = fj::go(until_stopped);
  fj::stop_source source;
  static_cast<void>(rt.go([=] { until_stopped(source.get_token()); }));
  look();
  held.request_stop();
  source.request_stop();
}

void branch_that_computes_sends(fj::runtime& rt, looks look) {
  std::atomic<bool> end{false};
  auto forks = rt.go([&] {
    const channel c(0);
    fj::fork_join([&] { receive(c); },
                  [&] {
                    while (!end) continue;
                    c.send(1);
                  });
  });
  look();
  end = true;
  forks.get();
}

// With one P that another fiber has, no worker takes the second branch.
void branch_that_nobody_took_sends(fj::runtime& rt, looks look) {
  std::atomic<bool> end{false};
  auto forks = rt.go([&] {
    const channel c(0);
    fj::fork_join(
        [&] {
          static_cast<void>(fj::go([stop = &end] {  // no reference to this frame
            while (!*stop) continue;
          }));
          receive(c);
        },
        [&] { c.send(1); });
  });
  look();
  end = true;
  forks.get();
}

void ready_fiber_sends(fj::runtime& rt, looks look) {
  std::atomic<bool> end{false}, begun{false};
  {
    const channel c(0);
    static_cast<void>(rt.go([=] { receive(c); }));
    while (fj::count_fibers().waiting != 1) std::this_thread::yield();
    static_cast<void>(rt.go([&] {
      begun = true;
      while (!end) continue;
    }));
    while (!begun) std::this_thread::yield();
    static_cast<void>(rt.go([=] { c.send(1); }));
  }
  look();
  end = true;
}

void child_of_a_scope_sends(fj::runtime& rt, looks look) {
  std::atomic<bool> end{false};
  auto forks = rt.go([&] {
    fj::with_scope([&](auto& s) {
      s.fork([&] {
        const channel c(0);
        static_cast<void>(fj::go([=] { receive(c); }));
        while (fj::count_fibers().waiting == 0) fj::yield();
        fj::with_scope([&](auto& inner) {
          inner.fork([&] {
            while (!end) continue;
          });
        });
        c.send(1);
      });
    });
  });
  look();
  end = true;
  forks.get();
}

void blocking_call_sends(fj::runtime& rt, looks look) {
  std::atomic<bool> end{false};
  auto calls = rt.go([&] {
    const channel c(0);
    static_cast<void>(fj::go([=] { receive(c); }));
    fj::blocking([&] {
      while (!end) std::this_thread::sleep_for(1ms);
    });
    c.send(1);
  });
  look();
  end = true;
  calls.get();
}

void another_runtime_sends(fj::runtime& rt, looks look) {
  fj::runtime other(with_procs(1));
  const auto start = [&] {
    const channel c(0);
    static_cast<void>(rt.go([=] { receive(c); }));
    static_cast<void>(other.go([=] {
      fj::sleep_for(200ms);
      c.send(1);
    }));
  };
  start();
  look();
}

void caller_of_run_waits(fj::runtime& rt, looks look) {
  const channel c(0), d(0);
  std::thread calls([&] { rt.run([&] { receive(c); }); });
  std::thread outside([&] { receive(d); });
  look();
  c.send(1);
  d.send(1);
  calls.join();
  outside.join();
}

void lock_of_a_fiber_that_sleeps(fj::runtime& rt, looks look) {
  auto m = std::make_shared<fj::mutex>();
  static_cast<void>(rt.go([m = std::exchange(m, nullptr), &rt] {
    const std::scoped_lock lock(*m);
    static_cast<void>(rt.go([m] { const std::scoped_lock second(*m); }));
    fj::sleep_for(300ms);
  }));
  look();
}

void future_of_a_fiber_that_sleeps(fj::runtime& rt, looks look) {
  static_cast<void>(rt.go([&rt] {
    auto sleeps = rt.go([] { fj::sleep_for(300ms); });
    sleeps.get();
  }));
  look();
}

// What a lost fiber keeps is no more lost than that fiber, but what waits for a time beside it is not.
void local_of_a_fiber(fj::runtime& rt, looks look) {
  static fj::local<channel> mine;
  static_cast<void>(rt.go([&rt] {
    mine.get() = channel(0);
    static_cast<void>(rt.go([c = mine.get()] { receive(c); }));
    fj::sleep_for(300ms);
    mine.get().send(1);
  }));
  look();
}

// Low bits of an address may hold a tag, and it may lead into the middle.
void held_by_other_addresses(fj::runtime& rt, looks look) {
  struct large {
    char before[200];
    channel c{0};
    char after[200];
  };
  static const channel* of_another = nullptr;
  rt.go([&] {
      const auto* const c = new channel(0);
      kept_in_another_form = reinterpret_cast<std::uintptr_t>(c) | 5;
      static_cast<void>(rt.go([c = *c] { receive(c); }));
      of_another = &(new large)->c;
      static_cast<void>(rt.go([c = *of_another] { receive(c); }));
    }).get();
  look();
}

// Nobody can send any more, but blocks of their own and mappings count as if the program could (the page "Leaks": What
// hides a lost fiber).
void hidden_in_large_blocks(fj::runtime& rt, looks look) {
  rt.go([&] {
      auto* const all = new std::vector<channel>(100'000);
      (*all)[50'000] = channel(0);
      static_cast<void>(rt.go([c = (*all)[50'000]] { receive(c); }));
      void* const pages = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      auto* const c = new (static_cast<char*>(pages) + (1 << 19)) channel(0);
      static_cast<void>(rt.go([c = *c] { receive(c); }));
    }).get();
  look();
}

// Of all of them one reference is left, in a frame that has not returned: to a channel, through a vector.
void ten_thousand_wait(fj::runtime& rt, looks look) {
  std::vector<channel> all;
  for (int i = 0; i < 100; ++i) all.emplace_back(0);
  for (int i = 0; i < 10'000; ++i)
    static_cast<void>(rt.go([c = all[static_cast<std::size_t>(i) % 100]] { receive(c); }));
  look();
  for (const channel& c : all) c.close();
}

// The fiber that looks holds what the others wait for: a lock of fibers, and one of threads.
void a_fiber_that_holds_locks_looks(fj::runtime& rt, looks look) {
  auto m = std::make_shared<fj::mutex>();
  auto guards = std::make_shared<std::mutex>();
  rt.go([&, m = std::exchange(m, nullptr), guards = std::exchange(guards, nullptr)] {
      const std::scoped_lock lock(*m);
      for (int i = 0; i < 3; ++i) static_cast<void>(rt.go([m] { const std::scoped_lock second(*m); }));
      while (fj::count_fibers().waiting != 3) fj::yield();  // no worker need be free
      const std::scoped_lock of_threads(*guards);
      std::thread waits([=] { const std::scoped_lock second(*guards); });
      look();
      waits.join();
    }).get();
}

void three_runtimes(fj::runtime& rt, looks look) {
  fj::runtime other(with_procs(1)), another(with_procs(8));
  const channel first(0), second(0), third(0);
  static_cast<void>(rt.go([=] {
    receive(first);
    second.send(1);
  }));
  static_cast<void>(other.go([=] {
    receive(second);
    third.send(1);
  }));
  static_cast<void>(another.go([=] { receive(third); }));
  static_cast<void>(fj::go([=] { receive(third); }));
  look();
}

struct waiting {
  const char* name;
  void (*body)(fj::runtime&, looks);
  std::size_t waits;  // fibers that wait while it looks, at least
  unsigned procs = 2;
  // Its workers do not sleep between their start and the look: so they must let the signal through from their start.
  bool asks_early = false;
};
#define WAITING(name, ...) {#name, name, __VA_ARGS__}

const waiting all_waiting[] = {
    WAITING(held_by_main, 1),
    WAITING(held_by_a_global, 1),
    WAITING(held_by_a_thread, 2),
    WAITING(held_by_a_register, 2, 2, true),
    WAITING(held_by_the_heap, 10),
    WAITING(held_by_a_large_block, 1),
    WAITING(held_by_another_arena, 1),
    WAITING(held_by_a_mapping, 2),
    WAITING(held_by_a_protected_page, 1),
    WAITING(borrowed_by_a_sleeper, 2),
    WAITING(held_by_a_sleeper, 2),
    WAITING(with_a_deadline, 2),
    WAITING(on_a_descriptor, 3),
    WAITING(with_a_token, 3),
    WAITING(branch_that_computes_sends, 1, 2, true),
    WAITING(branch_that_nobody_took_sends, 1, 1, true),
    WAITING(ready_fiber_sends, 1, 1, true),
    WAITING(child_of_a_scope_sends, 1, 1, true),
    WAITING(blocking_call_sends, 1, 2, true),
    WAITING(another_runtime_sends, 1),
    WAITING(caller_of_run_waits, 1),
    WAITING(lock_of_a_fiber_that_sleeps, 2),
    WAITING(future_of_a_fiber_that_sleeps, 2),
    WAITING(local_of_a_fiber, 2),
    WAITING(held_by_other_addresses, 2),
    WAITING(hidden_in_large_blocks, 2),
    WAITING(ten_thousand_wait, 10'000),
    WAITING(ten_thousand_wait, 10'000, 8),
    WAITING(a_fiber_that_holds_locks_looks, 3, 2, true),
    WAITING(a_fiber_that_holds_locks_looks, 3, 1, true),
    WAITING(three_runtimes, 4, 64),
};

// Programs whose fibers cannot be told from lost ones, or that do not let themselves be stopped.

int thread_blocks_the_signal() {
  std::atomic<bool> end{false}, there{false};
  std::thread deaf([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    there = true;
    while (!end) std::this_thread::sleep_for(1ms);
  });
  while (!there) std::this_thread::yield();
  fj::runtime rt(with_procs(1));
  abandoned_sender(rt);
  while (fj::count_fibers().waiting != 1) std::this_thread::yield();
  const fj::lost_report report = fj::lost_fibers();
  std::fputs(report.text().c_str(), stderr);
  // The oldest first, and ten at most.
  for (int i = 0; i < 12; ++i) forgotten_receiver(rt);
  while (fj::count_fibers().waiting != 13) std::this_thread::yield();
  const fj::lost_report later = fj::lost_fibers();
  end = true;
  deaf.join();
  std::_Exit(report.fibers.empty() && report.wait_long.size() == 1 && later.wait_long.size() == 10 &&
                     later.wait_long[0].number == report.wait_long[0].number
                 ? 0
                 : 1);
}

// It lets no signal through before it has slept.
int worker_only_computes(bool asks_early) {
  if (asks_early) static_cast<void>(fj::lost_fibers());
  fj::runtime rt(with_procs(1));
  std::atomic<bool> end{false}, begun{false};
  auto computes = rt.go([&] {
    begun = true;
    while (!end) continue;
  });
  while (!begun) std::this_thread::yield();
  std::fputs(fj::lost_fibers().text().c_str(), stderr);
  end = true;
  computes.get();
  return 0;
}

int threads_take_turns() {
  fj::options with = with_procs(2);
  with.schedule.seed = 1;
  fj::runtime rt(with);
  rt.run([] { std::fputs(fj::lost_fibers().text().c_str(), stderr); });
  return 0;
}

int no_memory_for_the_look() {
  fj::runtime rt(with_procs(1));
  rt.run([] {});
  std::fputs(fj::lost_fibers().text().c_str(), stderr);
  std::ifstream sizes("/proc/self/statm");
  rlim_t pages = 0;
  sizes >> pages;
  const rlimit most{(pages + 256) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)), RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &most);
  std::fputs(fj::lost_fibers().text().c_str(), stderr);
  return 0;
}

volatile std::sig_atomic_t handled = 0;

// Before the first look: it still gets the signal, but not what looks like the library's own.
int handler_from_before() {
  std::signal(SIGURG, [](int) { handled = handled + 1; });
  fj::runtime rt(with_procs(1));
  rt.run([] {});
  const bool available = fj::lost_fibers().text().empty();
  if (!available || handled != 0) return 1;
  std::raise(SIGURG);
  pthread_kill(pthread_self(), SIGURG);
  if (handled != 2) return 2;
  kill(getpid(), SIGURG);
  while (handled == 2) std::this_thread::yield();
  return handled == 3 ? 0 : 3;
}

int handler_of_the_program() {
  fj::runtime rt(with_procs(1));
  rt.run([] {});
  if (!fj::lost_fibers().not_available.empty()) return 1;
  std::signal(SIGURG, [](int) {});
  const fj::lost_report report = fj::lost_fibers();
  std::fputs(report.text().c_str(), stderr);
  return report.fibers.empty() ? 0 : 1;
}

// A fiber that is about to wait is not lost yet.
void wait_for_lost(std::size_t count) {
  while (fj::lost_fibers().fibers.size() < count) std::this_thread::yield();
}

// What is printed until the end of the runtime; then the program stands still.
int watched(unsigned procs) {
  setenv("FORKJOIN_LOST", "1", 1);
  setenv("FORKJOIN_LOST_MS", "1", 1);
  fj::runtime rt(with_procs(procs));
  rt.go([&] { abandoned_sender(rt); }).get();
  wait_for_lost(1);
  return 0;
}

// What is printed each second, if the process is small, and at the exit.
int watched_by_a_thread(bool is_large) {
  setenv("FORKJOIN_LOST", "1", 1);
  if (is_large) setenv("FORKJOIN_LOST_HEAP", "1", 1);
  const std::vector<char> memory(std::size_t{4} << 20, 'x');
  std::FILE* const said = std::tmpfile();
  const int before = dup(STDERR_FILENO);
  dup2(fileno(said), STDERR_FILENO);
  fj::go([] { static_cast<void>(fj::go([c = channel(0)] { receive(c); })); }).get();
  wait_for_lost(1);
  const char* const awaited = is_large ? "more memory than FORKJOIN_LOST_HEAP says" : "started by watched_by_a_thread";
  char text[4096] = {};
  while (pread(fileno(said), text, sizeof(text) - 1, 0) <= 0 || !std::strstr(text, awaited))
    std::this_thread::sleep_for(10ms);
  dup2(before, STDERR_FILENO);
  if (!is_large) std::_Exit(0);
  return memory.back() == 'x' ? 0 : 1;
}

// A child of fork(2) sees at most its own fibers: those of the parent's runtimes are not there, and what lay on the
// stacks of the parent's threads may hide its own. The parent looks without end, so some children begin in the midst of
// a look.
int children_look() {
  fj::runtime rt(with_procs(2));
  rt.go([&] { abandoned_sender(rt); }).get();  // no stale word here
  wait_for_lost(1);
  std::atomic<bool> end{false};
  std::thread looks([&] {
    while (!end) static_cast<void>(fj::lost_fibers());
  });
  int wrong = 0;
  for (int i = 0; i < 10; ++i) {
    const test::ending child = test::in_child(
        [] {
          const fj::lost_report before = fj::lost_fibers();
          std::fputs(before.text().c_str(), stderr);
          if (!before.text().empty()) std::_Exit(1);
          fj::runtime mine(with_procs(2));
          mine.go([&] { forgotten_receiver(mine); }).get();
          for (int k = 0; k < 3; ++k)
            if (fj::lost_fibers().fibers.size() > 1) std::_Exit(2);
          std::_Exit(0);
          return 3;
        },
        60);
    if (child.code != 0)
      std::fprintf(stderr, "child %d: %d, signal %d: %s\n", i, child.code, child.signal, child.said.c_str());
    wrong += child.code != 0;
  }
  end = true;
  looks.join();
  const fj::lost_report last = fj::lost_fibers();
  std::fprintf(stderr, "%zu lost in the parent: %s\n", last.fibers.size(), last.text().c_str());
  std::_Exit(wrong == 0 && last.fibers.size() == 1 ? 0 : 1);
}

// Fibers start, wait for a moment and end all the time, and none is lost; two threads and a fiber look at once.
int looked_at_by_several() {
  fj::runtime rt(with_procs(4));
  std::atomic<bool> end{false};
  std::atomic<int> wrong{0};
  const auto look = [&] {
    for (int i = 0; i < 5; ++i) wrong += !fj::lost_fibers().fibers.empty();  // each stops all threads, twice as a rule
  };
  auto starts = rt.go([&] {
    while (!end) {
      const channel c(0);
      std::vector<fj::future<void>> all;
      for (int i = 0; i < 20; ++i) all.push_back(fj::go([=] { receive(c); }));
      for (int i = 0; i < 20; ++i) c.send(1);
      for (auto& each : all) each.get();
    }
  });
  std::thread one(look), two(look);
  rt.go(look).get();
  one.join(), two.join();
  end = true;
  starts.get();
  return wrong;
}

// For lost_runs_test.py, by FORKJOIN_LOST=1: one fiber waits at the end, lost or not.
int one_waits(bool is_lost) {
  static std::optional<channel> kept;
  if (!is_lost) kept.emplace(0);
  fj::go([is_lost] { static_cast<void>(fj::go([c = is_lost ? channel(0) : *kept] { receive(c); })); }).get();
  if (is_lost) wait_for_lost(1);
  while (fj::count_fibers().waiting != 1) std::this_thread::yield();
  return 0;
}

// Threads, fibers and looks come and go at the same time; no look may hang, and what waits here does not do so for
// long.
int beside_what_goes_on() {
  fj::runtime rt(with_procs(3));
  std::atomic<bool> end{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i)
    others.emplace_back([&] {
      while (!end) {
        const channel c(0);
        auto sends = rt.go([=] { c.send(1); });
        std::thread([=] { receive(c); }).join();
        sends.get();
        delete[] new char[100'000];
      }
    });
  others.emplace_back([&] {
    while (!end) static_cast<void>(fj::lost_fibers());
  });
  int wrong = 0;
  for (int i = 0; i < 30; ++i) wrong += !fj::lost_fibers().fibers.empty();
  end = true;
  for (auto& each : others) each.join();
  return wrong;
}

// The lines of a program in this file that end in that comment.
std::set<unsigned> lines(const std::string& program, const std::string& comment) {
  const std::filesystem::path beside = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  std::ifstream source(beside / __FILE__);
  std::set<unsigned> found;
  bool inside = false;
  std::string line;
  for (unsigned number = 1; std::getline(source, line); ++number) {
    if (line.starts_with("void " + program + "(")) inside = true;
    if (line == "}") inside = false;
    if (inside && line.ends_with("  // " + comment)) found.insert(number);
  }
  return found;
}

// In the process of the program. 0: its lost fibers were found, with both lines; 1: not; 2: one was found that is none.
int run_leaking(const leaking& program) {
  const std::set<unsigned> waits = lines(program.name, "waits"), starts = lines(program.name, "starts");
  fj::runtime rt(with_procs(2));
  rt.go([&] { program.body(rt); }).get();  // what it leaves on the stack does not count
  fj::lost_report report;
  // A fiber that is about to wait is not lost yet.
  for (int i = 0; i < 100 && report.fibers.size() < program.lost; ++i) {
    report = fj::lost_fibers();
    if (!report.not_available.empty()) break;
    std::this_thread::sleep_for(1ms);
  }
  std::fputs(report.text().c_str(), stderr);
  std::set<unsigned> found_waits, found_starts;
  for (const fj::waiting_fiber& f : report.fibers) {
    found_waits.insert(f.waits.line);
    found_starts.insert(f.started.line);
  }
  int verdict = found_waits == waits && found_starts == starts && report.fibers.size() == program.lost ? 0 : 1;
  if (report.fibers.size() > program.lost ||
      !std::includes(waits.begin(), waits.end(), found_waits.begin(), found_waits.end()))
    verdict = 2;
  std::_Exit(verdict);
}

int run_waiting(const waiting& program) {
  if (program.asks_early) static_cast<void>(fj::lost_fibers());
  fj::runtime rt(with_procs(program.procs));
  program.body(rt, [&] {
    while (fj::count_fibers().waiting < program.waits) std::this_thread::yield();
    for (int i = 0; i < 3; ++i) {
      const fj::lost_report report = fj::lost_fibers();
      std::fputs(report.text().c_str(), stderr);
      if (!report.text().empty()) std::_Exit(2);
    }
    std::_Exit(0);
  });
  return 1;
}

}  // namespace

// Tried in runtime/lost_fibers.cpp: without a look at timers with_a_deadline is reported; at the token that the end of
// a runtime asks, with_a_token; at what a function captured, borrowed_by_a_sleeper; at pages that may not be written,
// held_by_a_protected_page; at blocks whose addresses lie between those of fibers, held_by_a_thread,
// held_by_a_register and held_by_another_arena; with a look that begins a KiB above the frame of look_twice,
// held_by_the_heap, held_by_another_arena, with_a_token and caller_of_run_waits. With a read of a heap_info in a page
// that is a guard, thousands_at_once ends by SIGSEGV. Not noticed, as another word leads to the same fibers: registers,
// deques that fibers left, parents in scopes that are not looked at.
int main(int argc, char** argv) {
  if (argc > 1) return one_waits(std::strcmp(argv[1], "lost") == 0);
  test::verdict all;
  // In a process of its own: what it sets up stays.
  const test::ending asked = test::in_child([] {
    const std::string why = fj::lost_fibers().not_available;
    std::fputs(why.c_str(), stderr);
    return why.empty() ? 0 : 1;
  });
  const bool available = asked.code == 0;
  // But on other C libraries and processors, and in sandboxes.
  all.check(available || test::sanitized || asked.said.starts_with("the C library") ||
                asked.said.starts_with("the processor") || asked.said.starts_with("/proc/"),
            "not available: " + asked.said);
  std::size_t found = 0;
  for (const leaking& each : all_leaking) {
    const test::ending end = test::in_child([&] { return run_leaking(each); }, 60);
    all.check(end.code == 0 || end.code == 1, std::string(each.name) + " found what is not lost: " + end.said);
    if (!available) all.contains(end.said, "is not available: ", each.name);
    if (end.code == 1) std::printf("%s was not found: %s\n", each.name, end.said.c_str());
    found += end.code == 0;
  }
  std::printf("%zu of %zu programs that leak were found\n", found, std::size(all_leaking));
  all.check(!available || 10 * found >= 8 * std::size(all_leaking), "too few");
  if (!available) return all.exit_code();

  for (const leaking& each : all_unseen) {
    const test::ending end = test::in_child([&] { return run_leaking(each); }, 60);
    all.check(end.code == 0, std::string(each.name) + ": " + end.said);
  }
  for (const waiting& each : all_waiting) {
    const test::ending end = test::in_child([&] { return run_waiting(each); }, 60);
    all.check(end.code == 0, std::string(each.name) + ": " + end.said);
  }
  const auto deaf = test::in_child(thread_blocks_the_signal, 60);
  all.check(deaf.code == 0, "a thread that blocks the signal");
  all.contains(deaf.said, "is not available: thread ", "a thread that blocks the signal");
  all.contains(deaf.said, "it blocks the signal", "a thread that blocks the signal");
  all.contains(deaf.said, "these wait long:\n  1 fiber (", "a thread that blocks the signal");
  const auto computes = test::in_child([] { return worker_only_computes(false); }, 60);
  const char* const membarrier = std::getenv("FORKJOIN_MEMBARRIER");
  if (membarrier && !std::strcmp(membarrier, "0")) {  // fences by signals: workers let them through from the beginning
    all.check(computes.code == 0 && computes.said.empty(), "a worker that only computes: " + computes.said);
  } else {
    all.contains(computes.said, "(fj-0): it blocks the signal", "a worker that only computes");
  }
  const auto asks = test::in_child([] { return worker_only_computes(true); }, 60);
  all.check(asks.code == 0 && asks.said.empty(), "a worker that only computes, after a look: " + asks.said);
  const auto turns = test::in_child(threads_take_turns, 60);
  all.contains(turns.said, "is not available: threads take turns", "threads take turns");
  const auto full = test::in_child(no_memory_for_the_look, 60);
  all.check(full.said.starts_with("forkjoin: which fibers are lost is not available: the system refuses memory"),
            "no memory: " + full.said);
  const auto before = test::in_child(handler_from_before, 60);
  all.check(before.code == 0, "a handler from before: " + std::to_string(before.code));
  const auto handles = test::in_child(handler_of_the_program, 60);
  all.check(handles.code == 0, "a handler of the program");
  all.contains(handles.said, "is not available: the program has a handler", "a handler of the program");
  for (const unsigned procs : {1u, 2u, 8u, 64u}) {
    const auto ends = test::in_child([=] { return watched(procs); }, 60);
    const std::string what = "watched, with P = " + std::to_string(procs);
    all.contains(ends.said, "forkjoin: 1 fiber is lost: ", what);
    all.contains(ends.said, "started by abandoned_sender", what);
    all.contains(ends.said, "forkjoin: deadlock: ", what);
  }
  all.check(test::in_child([] { return watched_by_a_thread(false); }, 60).code == 0, "watched by a thread");
  const auto exits = test::in_child([] { return watched_by_a_thread(true); }, 60);
  all.check(exits.code == 0, "watched, too large");
  all.contains(exits.said, "started by watched_by_a_thread", "watched, too large");
  all.check(test::in_child(beside_what_goes_on, 60).code == 0, "beside what goes on");
  const auto several = test::in_child(looked_at_by_several, 100);
  all.check(!several.too_late, "looked at by several: hangs");
  all.check(several.code == 0, "looked at by several: " + std::to_string(several.code));
  const auto children = test::in_child(children_look, 100);
  all.check(children.code == 0, "children look: " + children.said);
  return all.exit_code();
}
