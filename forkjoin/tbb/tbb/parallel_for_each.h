#pragma once

#include "detail/context.h"
#include "detail/runtime.h"

#include <forkjoin/parallel_for_each.hpp>

#include <iterator>
#include <type_traits>

namespace tbb {

template <class Item>
using feeder = fj::feeder<Item>;

namespace fj_detail {

template <class First, class Last, class Body>
void for_each(First first, Last last, const Body& body, task_group_context* context) {
  const auto run = [&](const fj::stop_token* stop) {
    enter([&] { fj::parallel_for_each(first, last, body, {.stop = stop}); });
  };
  context ? in_context(*context, run) : run(nullptr);
}

}  // namespace fj_detail

template <std::input_iterator Iterator, class Body>
void parallel_for_each(Iterator first, Iterator last, const Body& body) {
  fj_detail::for_each(first, last, body, nullptr);
}
template <std::input_iterator Iterator, class Body>
void parallel_for_each(Iterator first, Iterator last, const Body& body, task_group_context& context) {
  fj_detail::for_each(first, last, body, &context);
}
template <class Container, class Body>
  requires requires(Container& c) { std::begin(c); }
void parallel_for_each(Container&& range, const Body& body) {
  fj_detail::for_each(std::begin(range), std::end(range), body, nullptr);
}
template <class Container, class Body>
  requires requires(Container& c) { std::begin(c); }
void parallel_for_each(Container&& range, const Body& body, task_group_context& context) {
  fj_detail::for_each(std::begin(range), std::end(range), body, &context);
}

}  // namespace tbb
