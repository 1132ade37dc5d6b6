#pragma once

#include "detail/context.h"
#include "detail/runtime.h"

#include <forkjoin/parallel_for_each.hpp>

#include <iterator>
#include <type_traits>
#include <utility>

namespace tbb {

template <class Item>
using feeder = fj::feeder<Item>;

namespace fj_detail {

/// A body of the library's loop, which calls one of these names' loop.
template <class Value, class Body>
struct element_body {
  task_group_context& in;
  const Body& body;

  template <class Element>
    requires std::is_invocable_v<const Body&, Element>
  void operator()(Element&& element) const {
    call_body(in, [&] { body(std::forward<Element>(element)); });
  }
  template <class Element>
    requires std::is_invocable_v<const Body&, Element, feeder<Value>&>
  void operator()(Element&& element, feeder<Value>& more) const {
    call_body(in, [&] { body(std::forward<Element>(element), more); });
  }
};

template <class Iterator, class Body>
void for_each(Iterator first, Iterator last, const Body& body, task_group_context* context) {
  static_assert(
      std::forward_iterator<Iterator> || !std::is_lvalue_reference_v<std::iter_reference_t<Iterator>> ||
          !std::is_convertible_v<typename std::iterator_traits<Iterator>::iterator_category, std::forward_iterator_tag>,
      "tbb::parallel_for_each over forkjoin: iterators that can be read again must be std::forward_iterator, as their "
      "elements would be copied else");
  algorithm(context, [&](task_group_context& in) {
    fj::parallel_for_each(first, last, element_body<std::iter_value_t<Iterator>, Body>{in, body},
                          {.stop = cuts_loop(in)});
  });
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
