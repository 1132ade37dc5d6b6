// Variables that one function accesses for all.
#include <array>
#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "test/process/races/cases.hpp"

using races_test::use;

namespace {

[[gnu::noinline]] void add(long& to) {
  to += 1;  // every race of the cases but one is here
  use(to);
}

struct node {
  long value = 0;
  std::unique_ptr<node> next;
};

long apples = 0, pears = 0, baskets[12];

template <std::size_t Number>
long numbered = 0;
constexpr std::size_t many = 1100;
constexpr auto all_numbered = []<std::size_t... Number>(std::index_sequence<Number...>) {
  return std::array<long*, many>{&numbered<Number>...};
}(std::make_index_sequence<many>());

CASE(one_accessor) {  // racy, elsewhere
  const auto both = [] {
    add(apples);
    add(pears);
    for (long& one : baskets) add(one);
  };
  fj::fork_join(both, both);
}

CASE(one_accessor_of_locals) {  // racy, elsewhere
  long plums = 0, figs = 0;
  const auto both = [&] {
    add(plums);
    add(figs);
  };
  fj::fork_join(both, both);
}

CASE(one_accessor_of_blocks) {  // racy, elsewhere
  std::unique_ptr<node> list;
  for (int i = 0; i != 10; ++i) {
    auto made = std::make_unique<node>();
    made->next = std::move(list);
    list = std::move(made);
  }
  std::vector<long> numbers(3);
  const auto both = [&] {
    for (node* one = list.get(); one; one = one->next.get()) add(one->value);
    add(numbers[2]);
  };
  fj::fork_join(both, both);
}

CASE(many_variables) {  // racy, elsewhere
  const auto both = [] {
    for (long* const one : all_numbered) add(*one);
  };
  fj::fork_join(both, both);
}

}  // namespace
