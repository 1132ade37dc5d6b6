#pragma once

#include "detail/context.h"
#include "detail/runtime.h"

#include <forkjoin/parallel_for_each.hpp>

#include <iterator>
#include <mutex>
#include <ranges>
#include <type_traits>
#include <utility>

namespace tbb {

/// As there, several threads may add at once, as those of a loop in a body. It ends with the call of the body.
template <class Item>
class feeder {
 public:
  explicit feeder(fj::feeder<Item>& to) : to_(to) {}
  feeder(const feeder&) = delete;
  feeder& operator=(const feeder&) = delete;

  void add(const Item& item) {
    const std::scoped_lock alone(mutex_);
    to_.add(item);
  }
  void add(Item&& item) {
    const std::scoped_lock alone(mutex_);
    to_.add(std::move(item));
  }

 private:
  fj::feeder<Item>& to_;
  std::mutex mutex_;
};

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
  void operator()(Element&& element, fj::feeder<Value>& to) const {
    feeder<Value> more(to);
    call_body(in, [&] { body(std::forward<Element>(element), more); });
  }
};

template <class Result, class Body, class Element, class Item>
std::type_identity<Item> item_of_feeder(Result (Body::*)(Element, feeder<Item>&) const);
template <class Result, class Body, class Element, class Item>
std::type_identity<Item> item_of_feeder(Result (Body::*)(Element, feeder<Item>&) const noexcept);

/// The type of what a body adds: the feeder's, if the body has one signature that names it; else that of the elements.
template <class Body, class Value>
struct added_item : std::type_identity<Value> {};
template <class Body, class Value>
  requires requires { fj_detail::item_of_feeder(&Body::operator()); }
struct added_item<Body, Value> : decltype(fj_detail::item_of_feeder(&Body::operator())){};

template <class Iterator, class Body>
void for_each(Iterator first, Iterator last, const Body& body, task_group_context* context) {
  static_assert(
      std::forward_iterator<Iterator> || !std::is_lvalue_reference_v<std::iter_reference_t<Iterator>> ||
          !std::is_convertible_v<typename std::iterator_traits<Iterator>::iterator_category, std::forward_iterator_tag>,
      "tbb::parallel_for_each over forkjoin: iterators that can be read again must be std::forward_iterator, as their "
      "elements would be copied else");
  using item = typename added_item<Body, std::iter_value_t<Iterator>>::type;
  algorithm(context, [&](task_group_context& in) {
    const element_body<item, Body> called{in, body};
    if constexpr (std::is_same_v<item, std::iter_value_t<Iterator>>) {
      fj::parallel_for_each(first, last, called, {.stop = cuts_loop(in)});
    } else {
      const auto convert = [](auto&& element) { return item(std::forward<decltype(element)>(element)); };
      auto items = std::views::transform(std::ranges::subrange(first, last), convert);
      fj::parallel_for_each(items.begin(), items.end(), called, {.stop = cuts_loop(in)});
    }
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
