// A pipeline of filters. Items pass the serial filters one at a time; each one that finds such a filter busy, or is not in turn, is left
// there, and the strand that leaves the filter takes it on. So no strand waits for another.
// Source: McCool, Robison and Reinders, "Structured Parallel Programming" (2012), chapter 9, on how oneTBB does it.
#pragma once

#include "detail/context.h"
#include "detail/runtime.h"

#include <forkjoin/scope.hpp>
#include <forkjoin/with_scope.hpp>

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

  static void run(std::size_t most_items, const std::vector<stage>& stages, const fj::stop_token* stop) {
    fj_pipeline all(stages, stop);
    fj::with_scope(stop ? *stop : fj::stop_token(), [&](fj::scope& items) {
      all.items_ = &items;
      for (std::size_t i = 0; i != most_items && !all.is_over(); ++i) items.fork([&all] { all.feed(); });
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

  fj_pipeline(const std::vector<stage>& stages, const fj::stop_token* stop)
      : stages_(stages), gates_(stages.size()), stop_(stop) {}

  bool is_over() const { return over_ || (stop_ && stop_->stop_requested()) || items_->stopped(); }

  // Brings items in, and takes each to the end or to where it must wait.
  void feed() {
    for (token t; begin(t);)
      if (!advance(std::move(t), 1)) return;  // what it left there brings the next in, when it is through
  }

  // Runs the first filter. A serial one has the mutex: a caller waits here for a moment only.
  bool begin(token& t) {
    const stage& first = stages_.front();
    const auto make = [&] {
      if (is_over()) return false;
      flow_control control;
      t.carried = first.run(nullptr, control);
      if (control.stopped_) over_ = true;
      return !control.stopped_;
    };
    if (first.mode == filter_mode::parallel) {
      t.number = numbers_.fetch_add(1, std::memory_order_relaxed);
      return make();
    }
    const std::scoped_lock held(input_);
    if (!make()) return false;
    t.number = numbers_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  // Whether the item has come to the end.
  bool advance(token t, std::size_t at) {
    for (; at != stages_.size(); ++at) {
      const bool serial = stages_[at].mode != filter_mode::parallel;
      if (serial && !enter_gate(t, at)) return false;
      flow_control control;
      t.carried = stages_[at].run(std::move(t.carried), control);
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
      t.carried = stages_[at].run(std::move(t.carried), control);
      leave_gate(at);
      if (advance(std::move(t), at + 1)) feed();
    });
  }

  const std::vector<stage>& stages_;
  std::vector<gate> gates_;
  const fj::stop_token* stop_;
  fj::scope* items_ = nullptr;
  std::mutex input_;
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
  void clear() { stages_.clear(); }

  const std::vector<fj_pipeline::stage>& stages() const { return stages_; }

 private:
  template <class, class>
  friend class filter;

  template <class F>
  static fj_pipeline::function step(const F& f) {
    return [f](fj_pipeline::item in, [[maybe_unused]] flow_control& control) -> fj_pipeline::item {
      const auto call = [&]() -> decltype(auto) {
        if constexpr (std::is_void_v<In>) {
          return std::invoke(f, control);
        } else {
          return std::invoke(f, std::move(*static_cast<std::remove_cvref_t<In>*>(in.get())));
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

template <class In, class Out, class F>
filter<In, Out> make_filter(filter_mode mode, const F& f) {
  return filter<In, Out>(mode, f);
}

inline void parallel_pipeline(std::size_t max_number_of_live_tokens, const filter<void, void>& chain) {
  if (!chain.stages().empty())
    fj_detail::enter([&] { fj_pipeline::run(max_number_of_live_tokens, chain.stages(), nullptr); });
}
inline void parallel_pipeline(std::size_t max_number_of_live_tokens, const filter<void, void>& chain,
                              task_group_context& context) {
  fj_detail::in_context(context, [&](const fj::stop_token* stop) {
    if (!chain.stages().empty())
      fj_detail::enter([&] { fj_pipeline::run(max_number_of_live_tokens, chain.stages(), stop); });
  });
}
template <class F1, class F2, class... Filters>
void parallel_pipeline(std::size_t max_number_of_live_tokens, const F1& first, const F2& second,
                       const Filters&... more) {
  if constexpr (std::is_same_v<F2, task_group_context>) {
    static_assert(sizeof...(more) == 0);
  } else {
    parallel_pipeline(max_number_of_live_tokens, first & second, more...);
  }
}

}  // namespace tbb
