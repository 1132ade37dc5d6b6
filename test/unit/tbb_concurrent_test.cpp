// The containers of an installed oneTBB beside these names: each in a loop, a group and a pipeline. And the bounded
// queue, which is ours.
#include <doctest/doctest.h>

#include "forkjoin/tbb/tbb/detail/left_out.h"

#if FORKJOIN_TBB_CONTAINERS

#define TBB_PREVIEW_CONCURRENT_LRU_CACHE 1

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "forkjoin/go.hpp"
#include "forkjoin/tbb/tbb/blocked_range.h"
#include "forkjoin/tbb/tbb/concurrent_hash_map.h"
#include "forkjoin/tbb/tbb/concurrent_lru_cache.h"
#include "forkjoin/tbb/tbb/concurrent_map.h"
#include "forkjoin/tbb/tbb/concurrent_priority_queue.h"
#include "forkjoin/tbb/tbb/concurrent_queue.h"
#include "forkjoin/tbb/tbb/concurrent_set.h"
#include "forkjoin/tbb/tbb/concurrent_unordered_map.h"
#include "forkjoin/tbb/tbb/concurrent_unordered_set.h"
#include "forkjoin/tbb/tbb/concurrent_vector.h"
#include "forkjoin/tbb/tbb/parallel_for.h"
#include "forkjoin/tbb/tbb/parallel_pipeline.h"
#include "forkjoin/tbb/tbb/task_group.h"
#include "test/support.hpp"

namespace {

constexpr int n = 600;

int square_of_seven(int key) { return key * key % 7; }

// Calls add(i) for 0 … n - 1 in each of the three ways: so each number is added three times.
template <class Add>
void add_all(Add add) {
  tbb::parallel_for(0, n, add);
  tbb::task_group tasks;
  for (int part = 0; part < 6; ++part)
    tasks.run([part, &add] {
      for (int i = part; i < n; i += 6) add(i);
    });
  tasks.wait();
  int next = 0;
  tbb::parallel_pipeline(
      4, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& control) {
           if (next == n) control.stop();
           return next++;
         }) & tbb::make_filter<int, void>(tbb::filter_mode::parallel, [&](int i) { add(i); }));
}

constexpr long sum_of_all = 3L * n * (n - 1) / 2;

// Of a container's range, in parallel.
template <class Range, class Value>
long sum_of(const Range& range, Value value) {
  std::atomic<long> sum = 0;
  tbb::parallel_for(range, [&](const Range& part) {
    for (auto at = part.begin(); at != part.end(); ++at) sum += value(*at);
  });
  return sum;
}

template <class Test>
void everywhere(Test test) {
  test();
  test::for_each_procs([&](unsigned procs) {
    fj::runtime rt({.procs = procs});
    rt.run([&] { test(); });
  });
}

}  // namespace

TEST_CASE("concurrent_hash_map") {
  everywhere([] {
    tbb::concurrent_hash_map<int, int> counts;
    add_all([&](int i) {
      tbb::concurrent_hash_map<int, int>::accessor at;
      counts.insert(at, i % 50);
      at->second += i;
    });
    CHECK(counts.size() == 50);
    // In its iterators oneTBB casts small numbers to nodes, which UndefinedBehaviorSanitizer reports.
    if (!test::sanitized) CHECK(sum_of(counts.range(), [](const auto& each) { return each.second; }) == sum_of_all);
    tbb::concurrent_hash_map<int, int>::const_accessor found;
    CHECK(counts.find(found, 3));
    CHECK(!counts.find(found, 51));
    tbb::concurrent_hash_map<std::string, int> words;
    words.emplace("one", 1);
    CHECK(words.count("one") == 1);
  });
}

TEST_CASE("concurrent_vector") {
  everywhere([] {
    tbb::concurrent_vector<int> all;
    add_all([&](int i) { all.push_back(i); });
    CHECK(all.size() == 3 * n);
    CHECK(sum_of(all.range(), [](int each) { return each; }) == sum_of_all);
    std::atomic<long> sum = 0;
    tbb::parallel_for(all.range(), [&](const tbb::blocked_range<tbb::concurrent_vector<int>::iterator>& part) {
      for (const int each : part) sum += each;
    });
    CHECK(sum == sum_of_all);
    CHECK_THROWS_AS(static_cast<void>(all.at(3 * n)), std::out_of_range);
  });
}

TEST_CASE("concurrent_map, concurrent_multimap, concurrent_set and concurrent_multiset") {
  everywhere([] {
    tbb::concurrent_map<int, int> map;
    tbb::concurrent_multimap<int, int> multimap;
    tbb::concurrent_set<int> set;
    tbb::concurrent_multiset<int> multiset;
    add_all([&](int i) {
      map.emplace(i, i);
      multimap.emplace(i % 3, i);
      set.insert(i);
      multiset.insert(i);
    });
    CHECK(map.size() == n);
    CHECK(set.size() == n);
    CHECK(std::is_sorted(multiset.begin(), multiset.end()));
    CHECK(sum_of(multimap.range(), [](const auto& each) { return each.second; }) == sum_of_all);
    CHECK(sum_of(multiset.range(), [](int each) { return each; }) == sum_of_all);
  });
}

TEST_CASE("concurrent_unordered_map and its kin") {
  everywhere([] {
    tbb::concurrent_unordered_map<int, int> map;
    tbb::concurrent_unordered_multimap<int, int> multimap;
    tbb::concurrent_unordered_set<int> set;
    tbb::concurrent_unordered_multiset<int> multiset;
    add_all([&](int i) {
      map.emplace(i, i);
      multimap.emplace(i % 3, i);
      set.insert(i);
      multiset.insert(i);
    });
    CHECK(map.size() == n);
    CHECK(set.size() == n);
    CHECK(sum_of(multimap.range(), [](const auto& each) { return each.second; }) == sum_of_all);
    CHECK(sum_of(multiset.range(), [](int each) { return each; }) == sum_of_all);
  });
}

TEST_CASE("concurrent_queue and concurrent_priority_queue") {
  everywhere([] {
    tbb::concurrent_queue<int> queue;
    tbb::concurrent_priority_queue<int> by_size;
    add_all([&](int i) {
      queue.push(i);
      by_size.push(i);
    });
    long sum = 0;
    int each = 0, last = n;
    while (queue.try_pop(each)) sum += each;
    CHECK(sum == sum_of_all);
    bool sorted = true;
    for (sum = 0; by_size.try_pop(each); sum += each) sorted &= std::exchange(last, each) >= each;
    CHECK(sorted);
    CHECK(sum == sum_of_all);
  });
}

TEST_CASE("concurrent_lru_cache") {
  everywhere([] {
    tbb::concurrent_lru_cache<int, int> cache(&square_of_seven, 5);
    std::atomic<long> sum = 0;
    add_all([&](int i) { sum += cache[i % 10].value(); });
    long expected = 0;
    for (int i = 0; i < n; ++i) expected += 3 * square_of_seven(i % 10);
    CHECK(sum == expected);
  });
}

// oneTBB's keeps its thread: on one P this would not end.
TEST_CASE("concurrent_bounded_queue: others go on while a strand waits") {
  everywhere([] {
    tbb::concurrent_bounded_queue<int> queue;
    queue.set_capacity(2);
    std::atomic<long> sum = 0;
    constexpr int pairs = 5, each = 100;
    std::vector<fj::future<void>> all;
    for (int i = 0; i < pairs; ++i) {
      all.push_back(fj::go([&] {
        for (int k = 0; k < each; ++k) {
          int got = 0;
          queue.pop(got);
          sum += got;
        }
      }));
      all.push_back(fj::go([&] {
        for (int k = 0; k < each; ++k) queue.push(k);
      }));
    }
    for (auto& one : all) one.get();
    CHECK(sum == pairs * each * (each - 1) / 2L);
    CHECK(queue.empty());

    tbb::task_group tasks;
    tasks.run([&] {
      for (int k = 0; k < each; ++k) queue.push(k);
    });
    tasks.run([&] {
      for (int k = 0, got = 0; k < each; ++k) queue.pop(got);
    });
    tasks.wait();
    CHECK(queue.size() == 0);
  });
}

// Tried without the notification of the next one that waits for room: the second push waits for ever.
TEST_CASE("concurrent_bounded_queue: a push whose copy throws leaves the room to the next one") {
  struct refused {};
  struct item {
    explicit item(bool may_be_copied) : can(may_be_copied) {}
    item(const item& other) : can(other.can) {
      if (!can) throw refused();
    }
    item& operator=(const item&) = default;
    bool can;
  };
  everywhere([] {
    tbb::concurrent_bounded_queue<item> queue;
    queue.set_capacity(1);
    queue.push(item(true));
    auto first = fj::go([&] { queue.push(item(false)); });
    while (queue.size() != 2) fj::yield();
    auto second = fj::go([&] { queue.push(item(true)); });
    while (queue.size() != 3) fj::yield();
    item got(false);
    queue.pop(got);
    CHECK_THROWS_AS(first.get(), refused);
    second.get();
    CHECK(queue.size() == 1);
  });
}

// Tried without the notification in abort.
TEST_CASE("concurrent_bounded_queue: abort, sizes, copies") {
  everywhere([] {
    tbb::concurrent_bounded_queue<int> queue;
    CHECK(queue.capacity() > n);
    std::atomic<int> aborted = 0;
    auto taker = fj::go([&] {
      int got = 0;
      try {
        queue.pop(got);
      } catch (const tbb::user_abort&) {
        ++aborted;
      }
    });
    while (queue.size() != -1) fj::yield();  // a pop that waits
    queue.abort();
    taker.get();
    CHECK(aborted == 1);
    CHECK(queue.size() == 0);

    queue.set_capacity(2);
    CHECK(queue.try_push(1));
    CHECK(queue.try_emplace(2));
    CHECK(!queue.try_push(3));
    auto giver = fj::go([&] {
      try {
        queue.push(3);
      } catch (const tbb::user_abort&) {
        ++aborted;
      }
    });
    while (queue.size() != 3) fj::yield();  // a push that waits
    tbb::concurrent_bounded_queue<int> copy(queue);
    queue.abort();
    giver.get();
    CHECK(aborted == 2);
    CHECK(copy.capacity() == tbb::concurrent_bounded_queue<int>().capacity());  // as in oneTBB
    int got = 0;
    CHECK(copy.try_pop(got));
    CHECK(got == 1);
    CHECK(copy.unsafe_end() - copy.unsafe_begin() == 1);
    auto after_room = fj::go([&] { queue.push(4); });
    while (queue.size() != 3) fj::yield();
    queue.set_capacity(-1);
    after_room.get();
    CHECK(queue.size() == 3);

    tbb::concurrent_bounded_queue<std::unique_ptr<int>> owners;
    owners.push(std::make_unique<int>(5));
    std::unique_ptr<int> owned;
    owners.pop(owned);
    CHECK(*owned == 5);
  });
}

TEST_CASE("concurrent_bounded_queue: threads outside") {
  tbb::concurrent_bounded_queue<int> queue;
  queue.set_capacity(1);
  long sum = 0;
  std::thread taker([&] {
    for (int i = 0, got = 0; i < n; ++i) {
      queue.pop(got);
      sum += got;
    }
  });
  tbb::parallel_for(0, n, [&](int i) { queue.push(i); });
  taker.join();
  CHECK(sum == sum_of_all / 3);
}

#endif
