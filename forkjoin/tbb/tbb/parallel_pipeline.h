// A pipeline of filters. Items pass the serial filters one at a time; each one that finds such a filter busy, or is not
// in turn, is left there, and the strand that leaves the filter takes it on. So no strand waits for another.
// Source: McCool, Robison and Reinders, "Structured Parallel Programming" (2012), chapter 9, on how oneTBB does it.
#pragma once

#include "detail/context.h"
#include "detail/runtime.h"

#include <forkjoin/scope.hpp>
#include <forkjoin/with_scope.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace tbb {

enum class filter_mode : unsigned { parallel, serial_in_order, serial_out_of_order };

class flow_control {
 public:
  void stop() { stopped_ = true; }

 private:
  template <class In, class Out>
  friend class filter;
  friend class fj_pipeline;
  bool stopped_ = false;
};

/// Runs a chain of filters. What goes from one to the next is in a shared_ptr<void>.
class fj_pipeline {
 public:
  using item = std::shared_ptr<void>;
  /// Gives nothing if the first filter has stopped.
  using function = std::function<item(item, flow_control&)>;
  struct stage {
    filter_mode mode;
    function run;
  };

  static void run(std::size_t most_items, const std::vector<stage>& stages, task_group_context* given) {
    if (stages.empty()) return;
    fj_detail::algorithm(given, [&](task_group_context& context) {
      fj_pipeline all(stages, context);
      fj::with_scope([&](fj::scope& items) {
        all.items_ = &items;
        for (std::size_t i = 0; i != most_items && !all.is_over(); ++i) items.fork([&all] { all.feed(); });
      });
    });
  }

 private:
  struct token {
    std::uint64_t number = 0;
    item carried;
  };
  // The place before a serial filter.
  struct gate {
    std::mutex mutex;
    bool busy = false;
    std::uint64_t next = 0;  // of a filter in order
    std::map<std::uint64_t, token> waiting;
  };

  fj_pipeline(const std::vector<stage>& stages, task_group_context& context)
      : stages_(stages), gates_(stages.size()), context_(context) {}

  bool is_over() const { return over_ || context_.is_group_execution_cancelled() || items_->stopped(); }

  item call(std::size_t at, item&& carried, flow_control& control) {
    return fj_detail::call_body(context_, [&] { return stages_[at].run(std::move(carried), control); });
  }

  // Brings items in, and takes each to the end or to where it must wait.
  void feed() {
    if (!enter_input()) return;
    for (;;) {
      token t;
      if (!begin(t)) return;
      if (leave_input()) {  // for one that waits to bring items in
        items_->fork([this, t = std::move(t)]() mutable {
          if (advance(std::move(t), 1)) feed();
        });
      } else if (!advance(std::move(t), 1) || !enter_input()) {
        return;  // what it left there brings the next in, when it is through
      }
    }
  }

  // A serial first filter runs in one strand at a time. Who finds it busy is counted, and whoever leaves it brings
  // items in for that one.
  bool enter_input() {
    if (stages_.front().mode == filter_mode::parallel) return true;
    const std::scoped_lock held(input_);
    if (!input_busy_) return input_busy_ = true;
    ++feeders_;
    return false;
  }
  // Whether the caller has it again.
  bool leave_input() {
    if (stages_.front().mode == filter_mode::parallel) return false;
    const std::scoped_lock held(input_);
    input_busy_ = feeders_ != 0;
    if (input_busy_) --feeders_;
    return input_busy_;
  }

  // Runs the first filter. There is a number only where there is an item, as filters in order wait for each number.
  bool begin(token& t) {
    if (is_over()) return false;
    flow_control control;
    t.carried = call(0, nullptr, control);
    if (control.stopped_) over_ = true;
    if (control.stopped_) return false;
    t.number = numbers_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  // Whether the item has come to the end.
  bool advance(token t, std::size_t at) {
    for (; at != stages_.size(); ++at) {
      const bool serial = stages_[at].mode != filter_mode::parallel;
      if (serial && !enter_gate(t, at)) return false;
      flow_control control;
      t.carried = call(at, std::move(t.carried), control);
      if (serial) leave_gate(at);
    }
    return true;
  }

  bool in_order(std::size_t at) const { return stages_[at].mode == filter_mode::serial_in_order; }

  bool enter_gate(token& t, std::size_t at) {
    gate& g = gates_[at];
    const std::scoped_lock held(g.mutex);
    if (!g.busy && (!in_order(at) || t.number == g.next)) return g.busy = true;
    const std::uint64_t number = t.number;
    g.waiting.emplace(number, std::move(t));
    return false;
  }

  // The next one that waits there goes on in a strand of its own, and then brings in others.
  void leave_gate(std::size_t at) {
    gate& g = gates_[at];
    std::optional<token> next;
    {
      const std::scoped_lock held(g.mutex);
      ++g.next;
      const auto first = g.waiting.begin();
      g.busy = first != g.waiting.end() && (!in_order(at) || first->first == g.next);
      if (!g.busy) return;
      next = std::move(first->second);
      g.waiting.erase(first);
    }
    items_->fork([this, at, t = std::move(*next)]() mutable {
      flow_control control;
      t.carried = call(at, std::move(t.carried), control);
      leave_gate(at);
      if (advance(std::move(t), at + 1)) feed();
    });
  }

  const std::vector<stage>& stages_;
  std::vector<gate> gates_;
  task_group_context& context_;
  fj::scope* items_ = nullptr;
  std::mutex input_;
  bool input_busy_ = false;
  std::size_t feeders_ = 0;
  std::atomic<std::uint64_t> numbers_{0};
  std::atomic<bool> over_{false};
};

template <class In, class Out>
class filter {
 public:
  filter() = default;
  template <class F>
  filter(filter_mode mode, const F& f) : stages_{{mode, step(f)}} {}

  template <class Next>
  filter<In, Next> operator&(const filter<Out, Next>& right) const {
    filter<In, Next> both;
    both.stages_ = stages_;
    both.stages_.insert(both.stages_.end(), right.stages_.begin(), right.stages_.end());
    return both;
  }
  filter& operator&=(const filter<Out, Out>& right) { return *this = *this & right; }
  void clear() { stages_.clear(); }

  const std::vector<fj_pipeline::stage>& stages() const { return stages_; }

 private:
  template <class, class>
  friend class filter;

  template <class F>
  static fj_pipeline::function step(const F& f) {
    // One body for all copies of the filter, as there.
    return [f = std::make_shared<const F>(f)](fj_pipeline::item in,
                                              [[maybe_unused]] flow_control& control) -> fj_pipeline::item {
      const auto call = [&]() -> decltype(auto) {
        if constexpr (std::is_void_v<In>) {
          return std::invoke(*f, control);
        } else {
          return std::invoke(*f, std::move(*static_cast<std::remove_cvref_t<In>*>(in.get())));
        }
      };
      if constexpr (std::is_void_v<Out>) {
        call();
        return nullptr;
      } else {
        return std::make_shared<std::remove_cvref_t<Out>>(call());
      }
    };
  }

  std::vector<fj_pipeline::stage> stages_;
};

namespace fj_detail {

/// What a body takes and gives; void for a flow_control.
template <class Signature>
struct filter_types;
template <class Out, class Body, class In>
struct filter_types<Out (Body::*)(In)> {
  using in = std::conditional_t<std::is_same_v<std::remove_cvref_t<In>, flow_control>, void, std::remove_cvref_t<In>>;
  using out = std::remove_cvref_t<Out>;
};
template <class Out, class Body, class In>
struct filter_types<Out (Body::*)(In) const> : filter_types<Out (Body::*)(In)> {};
template <class Out, class Body, class In>
struct filter_types<Out (Body::*)(In) noexcept> : filter_types<Out (Body::*)(In)> {};
template <class Out, class Body, class In>
struct filter_types<Out (Body::*)(In) const noexcept> : filter_types<Out (Body::*)(In)> {};

template <class F>
using filter_of_body =
    filter<typename filter_types<decltype(&F::operator())>::in, typename filter_types<decltype(&F::operator())>::out>;

}  // namespace fj_detail

template <class F>
filter(filter_mode, F) -> filter<typename fj_detail::filter_types<decltype(&F::operator())>::in,
                                 typename fj_detail::filter_types<decltype(&F::operator())>::out>;

template <class In, class Out, class F>
filter<In, Out> make_filter(filter_mode mode, const F& f) {
  return filter<In, Out>(mode, f);
}
template <class F>
fj_detail::filter_of_body<F> make_filter(filter_mode mode, const F& f) {
  return fj_detail::filter_of_body<F>(mode, f);
}

inline void parallel_pipeline(std::size_t max_number_of_live_tokens, const filter<void, void>& chain) {
  fj_pipeline::run(max_number_of_live_tokens, chain.stages(), nullptr);
}
inline void parallel_pipeline(std::size_t max_number_of_live_tokens, const filter<void, void>& chain,
                              task_group_context& context) {
  fj_pipeline::run(max_number_of_live_tokens, chain.stages(), &context);
}
template <class F1, class F2, class... More>
  requires(!std::is_same_v<F2, task_group_context>)
void parallel_pipeline(std::size_t max_number_of_live_tokens, const F1& first, const F2& second, More&&... more) {
  parallel_pipeline(max_number_of_live_tokens, first & second, std::forward<More>(more)...);
}

}  // namespace tbb
