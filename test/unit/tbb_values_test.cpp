// oneTBB's names: values of threads, ranges and their proportions, feeders, and the forms of the algorithms.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <forward_list>
#include <functional>
#include <memory>
#include <numeric>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "forkjoin/go.hpp"
#include "forkjoin/tbb/tbb/blocked_range2d.h"
#include "forkjoin/tbb/tbb/blocked_range3d.h"
#include "forkjoin/tbb/tbb/blocked_rangeNd.h"
#include "forkjoin/tbb/tbb/combinable.h"
#include "forkjoin/tbb/tbb/enumerable_thread_specific.h"
#include "forkjoin/tbb/tbb/parallel_for.h"
#include "forkjoin/tbb/tbb/parallel_for_each.h"
#include "forkjoin/tbb/tbb/parallel_invoke.h"
#include "forkjoin/tbb/tbb/parallel_reduce.h"
#include "forkjoin/tbb/tbb/parallel_scan.h"
#include "forkjoin/tbb/tbb/task_group.h"
#include "forkjoin/tbb/tbb/tick_count.h"
#include "test/support.hpp"

// Tried with a copy that shares the other object's table.
TEST_CASE("a copy has values of its own") {
  auto original = std::make_unique<tbb::enumerable_thread_specific<int>>(5);
  original->local() = 6;
  std::thread([&] { original->local() = 60; }).join();
  auto copy = *original;
  CHECK(copy.size() == 2);
  bool exists = false;
  CHECK(copy.local(exists) == 6);
  CHECK(exists);
  copy.local() = 9;
  CHECK(original->local() == 6);
  original.reset();
  copy.local() += 1;
  CHECK(copy.local() == 10);
  CHECK(copy.combine(std::plus<>()) == 70);

  tbb::combinable<std::string> words([] { return std::string("a"); });
  words.local() += "b";
  tbb::combinable<std::string> more(words);
  more.local() += "c";
  CHECK(words.local() == "ab");
  words = more;
  more.clear();
  CHECK(words.local() == "abc");
  tbb::combinable<std::string> moved(std::move(words));
  CHECK(moved.local() == "abc");
  CHECK(words.local() == "a");  // NOLINT: it has no values, and new ones begin as before
}

// Tried with a combine that keeps the element that it makes.
TEST_CASE("to combine no values leaves none") {
  tbb::combinable<int> sum([] { return 7; });
  CHECK(sum.combine(std::plus<>()) == 7);
  int values = 0;
  sum.combine_each([&](int) { ++values; });
  CHECK(values == 0);
  tbb::enumerable_thread_specific<std::vector<int>> none(3u, 1);
  CHECK(none.combine([](const auto& a, const auto&) { return a; }) == std::vector<int>(3, 1));
  CHECK(none.empty());
}

// Compilers take the number of the thread for constant, but a strand may go on on another thread.
[[gnu::noinline]] static std::thread::id this_thread() {
  asm volatile("" ::: "memory");
  return std::this_thread::get_id();
}

TEST_CASE("each thread has its own value") {
  test::for_each_runtime("values of threads", [](fj::runtime& rt, unsigned, auto) {
    tbb::enumerable_thread_specific<long> sums;
    tbb::enumerable_thread_specific<std::thread::id> owners([] { return std::this_thread::get_id(); });
    std::atomic<int> wrong = 0;
    rt.run([&] {
      tbb::parallel_for(0, 2000, [&](int i) {
        sums.local() += i;
        if (owners.local() != this_thread()) ++wrong;
        fj::yield();  // the strand may go on on another thread
        sums.local() += i;
        if (owners.local() != this_thread()) ++wrong;
      });
    });
    CHECK(wrong == 0);
    CHECK(sums.combine(std::plus<>()) == 2L * 2000 * 1999 / 2);
    CHECK(std::set<std::thread::id>(owners.begin(), owners.end()).size() == owners.size());
  });
}

TEST_CASE("values of many threads") {
  tbb::enumerable_thread_specific<int> values([] { return 1; });
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) ++values.local();
    });
  for (std::thread& each : threads) each.join();
  // Numbers of threads come again.
  CHECK(std::accumulate(values.begin(), values.end(), 0) == 10'000 + static_cast<int>(values.size()));
  values.clear();
  CHECK(values.empty());
  CHECK(values.local() == 1);
}

TEST_CASE("iterators, ranges, and values that stay where they are") {
  struct immovable {
    immovable() = default;
    immovable(const immovable&) = delete;
    std::atomic<int> n = 1;
  };
  tbb::enumerable_thread_specific<immovable> values;
  for (int i = 0; i < 3; ++i) std::thread([&] { ++values.local().n; }).join();
  ++values.local().n;
  const auto size = static_cast<std::ptrdiff_t>(values.size());
  CHECK(values.end() - values.begin() == size);
  CHECK(values.begin() + size == values.end());
  CHECK(values.begin() < values.end());
  CHECK((values.begin() + 0)->n >= 2);
  tbb::enumerable_thread_specific<immovable>::const_iterator at = values.begin();
  CHECK(at == values.begin());
  CHECK(at[0].n == values.begin()[0].n);
  std::atomic<int> all = 0;
  tbb::parallel_for(values.range(), [&](const auto& part) {
    for (const immovable& each : part) all += each.n;
  });
  CHECK(all == 4 + size);
}

TEST_CASE("the elements of all threads' containers") {
  tbb::enumerable_thread_specific<std::vector<int>> lists;
  for (int i = 0; i < 4; ++i) std::thread([&] { lists.local().push_back(i); }).join();
  lists.local().clear();
  int sum = 0;
  auto all = tbb::flatten2d(lists);
  for (int& each : all) sum += std::exchange(each, 1);
  CHECK(sum == 6);
  CHECK(all.size() == 4);
  CHECK(std::accumulate(std::as_const(all).begin(), std::as_const(all).end(), 0) == 4);
  CHECK(tbb::flatten2d(lists, lists.begin(), lists.begin()).size() == 0);
}

TEST_CASE("what begins a value may fail, and may ask for one") {
  int calls = 0;
  tbb::enumerable_thread_specific<int> values([&] {
    if (++calls == 1) throw std::runtime_error("the first");
    return calls;
  });
  CHECK_THROWS_AS(static_cast<void>(values.local()), std::runtime_error);
  CHECK(values.empty());
  CHECK(values.local() == 2);
  tbb::enumerable_thread_specific<int>* itself = nullptr;
  int depth = 0;
  tbb::enumerable_thread_specific<int> nested([&] { return ++depth < 3 ? itself->local() + 1 : 1; });
  itself = &nested;
  const int first = nested.local();
  CHECK(nested.size() == 1);
  CHECK(nested.local() == first);
}

TEST_CASE("ranges are cut in proportion") {
  tbb::proportional_split by(3, 1);
  tbb::blocked_range2d<int> flat(0, 100, 0, 8);
  const tbb::blocked_range2d<int> lower(flat, by);
  CHECK(flat.rows().size() == 75);
  CHECK(lower.rows().size() == 25);
  CHECK(lower.cols().size() == 8);
  tbb::blocked_range3d<int> deep(0, 2, 0, 8, 0, 100);
  const tbb::blocked_range3d<int> right(deep, by);
  CHECK(deep.cols().size() == 75);
  CHECK(right.cols().begin() == 75);
  CHECK(right.pages().size() == 2);
  tbb::blocked_rangeNd<int, 4> many({0, 2}, {0, 100, 5}, {0, 30}, {0, 1});
  const tbb::blocked_rangeNd<int, 4> part(many, by);
  CHECK(many.dim(2).size() == 22);
  CHECK(part.dim(2).begin() == 22);
  CHECK(part.dim(1).size() == 100);
  std::atomic<long> cells = 0;
  tbb::parallel_for(tbb::blocked_rangeNd<int, 4>({0, 2}, {0, 10}, {0, 30}, {0, 3}), [&](const auto& box) {
    long n = 1;
    for (unsigned i = 0; i < box.ndims(); ++i) n *= static_cast<long>(box.dim(i).size());
    cells += n;
  });
  CHECK(cells == 1800);
}

TEST_CASE("bodies that add elements take them as they like") {
  test::for_each_runtime("feeders", [](fj::runtime& rt, unsigned, auto) {
    rt.run([] {
      const auto count = [](auto body) {
        std::atomic<int> calls = 0;
        std::vector<int> first(10, 3);
        tbb::parallel_for_each(first.begin(), first.end(), [&](int& n, tbb::feeder<int>& more) {
          ++calls;
          body(n, more);
        });
        CHECK(calls == 40);
        return first;
      };
      CHECK(count([](int& n, auto& more) {
              if (n > 0) more.add(--n);
            }) == std::vector<int>(10, 2));  // the loop's own elements, not copies
      std::atomic<int> generic = 0;
      std::forward_list<int> list(5, 1);
      tbb::parallel_for_each(list, [&](auto& n, auto& more) {
        ++generic;
        if (n) more.add(--n);
      });
      CHECK(generic == 10);
      CHECK(list == std::forward_list<int>(5, 0));

      // Elements of another type than the feeder's are converted.
      std::atomic<long> total = 0;
      std::vector<int> numbers(5, 2);
      tbb::parallel_for_each(numbers, [&](long n, tbb::feeder<long>& more) {
        total += n;
        if (n > 0) more.add(n - 1);
      });
      CHECK(total == 15);
      tbb::parallel_for_each(numbers.begin(), numbers.end(), [&](long&& n, tbb::feeder<long>&) { total += n; });
      CHECK(total == 25);

      struct unassigned {
        explicit unassigned(int y) : x(y) {}
        unassigned(unassigned&&) = default;
        unassigned(const unassigned&) = default;
        unassigned& operator=(const unassigned&) = delete;
        int x;
      };
      std::atomic<int> sum = 0;
      const std::vector<unassigned> some(4, unassigned(3));
      tbb::parallel_for_each(some.begin(), some.end(), [&](const unassigned& u, tbb::feeder<unassigned>& more) {
        sum += u.x;
        if (u.x > 0) more.add(unassigned(u.x - 1));
      });
      CHECK(sum == 24);
    });
  });
}

TEST_CASE("a function of a scan takes a tag, as a body does") {
  std::vector<int> sums(100);
  const auto scan = [&](const tbb::blocked_range<int>& r, int before, auto tag) {
    for (int i = r.begin(); i != r.end(); ++i) {
      before += i;
      if (decltype(tag)::is_final_scan()) sums[static_cast<std::size_t>(i)] = before;
    }
    return before;
  };
  CHECK(tbb::parallel_scan(tbb::blocked_range<int>(0, 100), 0, scan, std::plus<>()) == 4950);
  CHECK(sums[50] == 50 * 51 / 2);
}

// Has no identity, is neither copied nor moved, and takes part in a join once it has a sum. Tried with joins into
// bodies without one.
struct latest {
  std::vector<int>* into;
  int first = -1, last = -1;

  explicit latest(std::vector<int>& values) : into(&values) {}
  latest(latest& of, tbb::split) : into(of.into) {}
  latest(const latest&) = delete;
  template <class Tag>
  void operator()(const tbb::blocked_range<int>& r, Tag) {
    if (Tag::is_final_scan()) CHECK((first == 0 ? last == r.begin() : r.begin() == 0));
    if (first < 0) first = r.begin();
    last = r.end();
    for (int i = r.begin(); Tag::is_final_scan() && i != r.end(); ++i) (*into)[static_cast<std::size_t>(i)] = i;
  }
  void reverse_join(const latest& before) {
    CHECK(before.last == first);
    first = before.first;
  }
  void assign(const latest& of) {
    first = of.first;
    last = of.last;
  }
};

TEST_CASE("a scan joins bodies that have a sum alone") {
  test::for_each_procs([](unsigned p) {
    fj::runtime rt({.procs = p});
    for (const int n : {1, 2, 3, 5, 100}) {
      std::vector<int> values(static_cast<std::size_t>(n)), expected(values);
      std::iota(expected.begin(), expected.end(), 0);
      latest body(values);
      rt.run([&] { tbb::parallel_scan(tbb::blocked_range<int>(0, n), body); });
      CHECK(body.first == 0);
      CHECK(body.last == n);
      CHECK(values == expected);
    }
  });
}

TEST_CASE("forms with a partitioner and a context") {
  tbb::task_group_context context;
  std::atomic<int> sum = 0;
  tbb::parallel_for(0, 10, 2, [&](int i) { sum += i; }, tbb::simple_partitioner(), context);
  CHECK(sum == 20);
  const auto add = [](const tbb::blocked_range<int>& part, int so_far) {
    for (int i : std::views::iota(part.begin(), part.end())) so_far += i;
    return so_far;
  };
  const tbb::blocked_range<int> numbers(0, 100);
  CHECK(tbb::parallel_deterministic_reduce(numbers, 0, add, std::plus<>(), context) == 4950);
  CHECK(tbb::parallel_deterministic_reduce(numbers, 0, add, std::plus<>(), tbb::static_partitioner(), context) == 4950);
  int a = 0, b = 0, c = 0;
  tbb::parallel_invoke([&] { a = 1; }, [&] { b = 2; }, context);
  tbb::parallel_invoke([&] { a += 1; }, [&] { b += 1; }, [&] { c = 3; }, context);
  CHECK(a + b + c == 8);
  context.cancel_group_execution();
  tbb::parallel_invoke([&] { a = 100; }, [&] { b = 100; }, context);
  CHECK(a + b == 5);
  static_assert(tbb::tick_count::clock_type::is_steady);
  static_assert(std::is_base_of_v<tbb::tick_count::clock_type::duration, tbb::tick_count::interval_t>);
  const tbb::tick_count before = tbb::tick_count::now();
  CHECK((tbb::tick_count::now() - before).seconds() >= 0);
}
