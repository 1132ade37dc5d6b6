// runtime/base: lists and random numbers.
#include <doctest/doctest.h>

#include <array>
#include <set>
#include <vector>

#include "forkjoin/abi/list.hpp"
#include "runtime/base/random.hpp"

namespace {

struct item {
  explicit item(int v) : value(v) {}

  int value;
  item* next = nullptr;
  fj::detail::list_links<item> links;
};

using stack_type = fj::detail::stack_list<item, &item::next>;
using list_type = fj::detail::linked_list<item, &item::links>;

std::vector<int> values(const list_type& list) {
  std::vector<int> all;
  for (const item* each = list.first(); each; each = list_type::after(*each)) all.push_back(each->value);
  return all;
}

}  // namespace

TEST_CASE("list: a stack returns the last item first") {
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

TEST_CASE("list: a linked list keeps the order, and has a first and a last") {
  list_type list;
  std::array<item, 4> items{item(0), item(1), item(2), item(3)};
  CHECK(list.empty());
  CHECK(list.first() == nullptr);
  CHECK(list.last() == nullptr);
  for (auto& each : items) list.push(each);
  CHECK(values(list) == std::vector{0, 1, 2, 3});
  CHECK(list.first() == &items[0]);
  CHECK(list.last() == &items[3]);
  CHECK(list.find([](const item& each) { return each.value == 2; }) == &items[2]);
  CHECK(list.find([](const item& each) { return each.value == 5; }) == nullptr);
}

TEST_CASE("list: items are taken out at the front, in the middle and at the end") {
  list_type list;
  std::array<item, 3> items{item(0), item(1), item(2)};
  for (auto& each : items) list.push(each);
  list.remove(items[1]);
  CHECK(values(list) == std::vector{0, 2});
  list.remove(items[2]);
  list.push(items[1]);  // the end is where it should be
  CHECK(values(list) == std::vector{0, 1});
  list.remove(items[0]);
  CHECK(list.first() == &items[1]);
  list.remove(items[1]);
  CHECK(list.empty());
  list.push(items[0]);  // empty and full again
  CHECK(values(list) == std::vector{0});
}

TEST_CASE("random: numbers are in range, and each comes up") {
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
