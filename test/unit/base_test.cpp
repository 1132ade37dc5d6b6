// runtime/base: lists and random numbers.
#include <doctest/doctest.h>

#include <array>
#include <set>
#include <vector>

#include "runtime/base/list.hpp"
#include "runtime/base/random.hpp"

namespace {

struct item {
  int value = 0;
  item* next = nullptr;
};

using stack_type = fj::detail::stack_list<item, &item::next>;
using queue_type = fj::detail::queue_list<item, &item::next>;

std::vector<int> values(const queue_type& queue) {
  std::vector<int> all;
  queue.for_each([&](const item& each) { all.push_back(each.value); });
  return all;
}

}  // namespace

TEST_CASE("list: a stack gives the last first") {
  stack_type stack;
  item a{1}, b{2};
  CHECK(stack.empty());
  CHECK(stack.pop() == nullptr);
  stack.push(&a);
  stack.push(&b);
  CHECK(stack.pop() == &b);
  CHECK(b.next == nullptr);
  stack.push(&b);
  CHECK(stack.pop() == &b);
  CHECK(stack.pop() == &a);
  CHECK(stack.empty());
}

TEST_CASE("list: a queue gives the first first") {
  queue_type queue;
  std::array<item, 4> items{{{0}, {1}, {2}, {3}}};
  CHECK(queue.empty());
  CHECK(queue.pop() == nullptr);
  for (auto& each : items) queue.push(&each);
  CHECK(values(queue) == std::vector{0, 1, 2, 3});
  CHECK(queue.pop() == &items[0]);
  queue.push(&items[0]);
  CHECK(values(queue) == std::vector{1, 2, 3, 0});
  for (const int expected : {1, 2, 3, 0}) CHECK(queue.pop()->value == expected);
  CHECK(queue.empty());
  queue.push(&items[2]);  // empty and full again
  CHECK(queue.pop() == &items[2]);
}

TEST_CASE("list: taking from the middle and from the end of a queue") {
  queue_type queue;
  std::array<item, 3> items{{{0}, {1}, {2}}};
  const auto is = [](int value) { return [value](const item& each) { return each.value == value; }; };
  for (auto& each : items) queue.push(&each);
  CHECK(queue.take_if(is(5)) == nullptr);
  CHECK(queue.take_if(is(1)) == &items[1]);
  CHECK(values(queue) == std::vector{0, 2});
  CHECK(queue.take_if(is(2)) == &items[2]);
  queue.push(&items[1]);  // the tail is where it should be
  CHECK(values(queue) == std::vector{0, 1});
  CHECK(queue.take_if(is(0)) == &items[0]);
  CHECK(queue.take_if(is(1)) == &items[1]);
  CHECK(queue.empty());
  queue.push(&items[0]);
  CHECK(values(queue) == std::vector{0});
}

TEST_CASE("random: in range, and everything comes up") {
  for (const std::uint64_t seed : {0u, 1u, 2u, 0xffffu}) {
    fj::detail::random dice(seed);
    CHECK(dice.below(1) == 0);
    for (const std::uint32_t n : {2u, 3u, 64u, 1000u}) {
      std::vector<unsigned> hits(n);
      for (unsigned i = 0; i < 50 * n; ++i) {
        const std::uint32_t drawn = dice.below(n);
        REQUIRE(drawn < n);
        ++hits[drawn];
      }
      for (const unsigned count : hits) CHECK(count > 10);
    }
  }
}

TEST_CASE("random: generators with different seeds differ") {
  std::set<std::uint32_t> first;
  for (unsigned seed = 0; seed < 100; ++seed) first.insert(fj::detail::random(seed).below(1u << 31));
  CHECK(first.size() > 95);
}
