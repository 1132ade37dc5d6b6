// A group of tasks in the serial build: run is a call.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "forkjoin/serial/observer.hpp"
#include "forkjoin/serial/run.hpp"
#include "forkjoin/serial/scope.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 {

/// As the parallel build's. What need not wait looks at no limit, and here nothing waits.
struct wait_options {
  struct any_time {
    constexpr any_time() noexcept = default;
    template <class Clock, class Duration>
    constexpr any_time(const std::chrono::time_point<Clock, Duration>&) noexcept {}
  };

  any_time until = {};
  const stop_token* stop = nullptr;
};

enum class task_group_status { complete, canceled };

/// As the parallel build's; a task has ended when run returns. There are no fibers: so it has no go.
class task_group {
 public:
  task_group() noexcept : task_group(stop_token()) {}
  explicit task_group(stop_token outer) noexcept : outer_(std::move(outer)) {
    const detail::unobserved here;  // the token's list of callbacks has a lock of its own
    hears_outer_.emplace(outer_, passes_stop_on{*this});
  }
  ~task_group() {
    children_.join();
    const detail::unobserved here;
    hears_outer_.reset();
    source_.reset();
    error_ = nullptr;
  }
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  template <class F>
  void run(F&& f) {
    using closure = std::decay_t<F>;
    static_assert(std::is_invocable_v<closure&> || std::is_invocable_v<closure&, stop_token>,
                  "fj::task_group::run: the argument must be callable without arguments, or with a fj::stop_token");
    if (stopped()) return;
    if (this_proc() < 0) return fj::run([&] { run(std::forward<F>(f)); });
    children_.branch(detail::child_closure<task<closure>>(task<closure>{*this, std::forward<F>(f)}));
  }

  // Compilers show this line.
  template <class... Arguments>
  void go(Arguments&&...) = delete;  // the serial build has no fibers: start what does not wait for others by run

  class reservation {
   public:
    reservation(reservation&&) noexcept {}
    reservation& operator=(reservation&&) noexcept { return *this; }
    ~reservation() {}

   private:
    friend class task_group;
    reservation() noexcept {}
  };
  [[nodiscard]] reservation reserve() noexcept { return reservation(); }

  task_group_status wait(wait_options = {}) {
    children_.join();
    auto [error, was_stopped] = take();
    if (error) std::rethrow_exception(std::move(error));
    return was_stopped ? task_group_status::canceled : task_group_status::complete;
  }

  template <class F>
  task_group_status run_and_wait(F&& f) {
    run(std::ref(f));
    return wait();
  }

  void request_stop() noexcept {
    stopped_ = true;
    std::optional<stop_source> source;
    {
      const detail::unobserved here;
      source = source_;
    }
    if (source) source->request_stop();
  }
  void cancel() noexcept { request_stop(); }
  [[nodiscard]] bool stopped() const noexcept { return stopped_ || outer_.stop_requested(); }

 private:
  template <class F>
  struct task {
    task_group& group;
    F f;

    void operator()() {
      try {
        if constexpr (std::is_invocable_v<F&>) {
          static_cast<void>(std::invoke(f));
        } else {
          static_cast<void>(std::invoke(f, group.token()));
        }
      } catch (...) {
        group.fail(std::current_exception());
      }
    }
  };

  struct passes_stop_on {
    task_group& to;
    void operator()() const noexcept { to.request_stop(); }
  };

  struct result {
    std::exception_ptr error;
    bool was_stopped;
  };

  stop_token token() {
    const detail::unobserved here;
    if (!source_) {
      source_.emplace();
      if (stopped()) source_->request_stop();
    }
    return source_->get_token();
  }

  void fail(std::exception_ptr error) noexcept {
    {
      const detail::unobserved here;
      if (!error_) error_ = std::move(error);
    }
    request_stop();
  }

  result take() noexcept {
    const detail::unobserved here;
    const bool was_stopped = stopped();
    stopped_ = false;
    source_.reset();
    return {std::exchange(error_, nullptr), was_stopped};
  }

  [[no_unique_address]] detail::fork_block children_{detail::block_kind::group};
  // What tasks that run beside one another share.
  detail::unseen<bool> stopped_ = false;
  std::exception_ptr error_;
  std::optional<stop_source> source_;
  const stop_token outer_;
  std::optional<std::stop_callback<passes_stop_on>> hears_outer_;
};

}}  // namespace fj::v0_4
