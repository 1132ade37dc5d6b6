// The ways to wait for another strand, a row each. Tests of deadlines, stops, giving way, reports and random steps try
// every one, so a new wait is a new row.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forkjoin/execution.hpp"
#include "forkjoin/go.hpp"

namespace test {

/// A sender's event. Operations complete once it is open, or if they are asked to stop after they have started; one at
/// a time.
class gate {
 public:
  void open() noexcept {
    if (operation_base* const waits = waits_.exchange(&opened_)) waits->complete();
  }

  struct operation_base {
    virtual void complete() noexcept {}
  };
  struct sender {
    using sender_concept = stdexec::sender_tag;
    template <class Self, class... Env>
    static consteval auto get_completion_signatures() noexcept {
      return stdexec::completion_signatures<stdexec::set_value_t(), stdexec::set_stopped_t()>();
    }
    template <class Receiver>
    struct operation final : operation_base {
      using operation_state_concept = stdexec::operation_state_tag;
      operation(gate& g, Receiver r) : of(g), to(std::move(r)) {}
      operation(operation&&) = delete;
      void start() & noexcept {
        stops.emplace(stdexec::get_stop_token(stdexec::get_env(to)), on_stop{*this});
        operation_base* shut = nullptr;
        if (!of.waits_.compare_exchange_strong(shut, this)) complete();
      }
      void complete() noexcept override {
        stops.reset();
        stdexec::set_value(std::move(to));
      }
      struct on_stop {
        operation& o;
        void operator()() const noexcept {
          operation_base* expected = &o;
          if (o.of.waits_.compare_exchange_strong(expected, nullptr)) stdexec::set_stopped(std::move(o.to));
        }
      };
      gate& of;
      Receiver to;
      std::optional<stdexec::inplace_stop_callback<on_stop>> stops;
    };
    template <class Receiver>
    operation<Receiver> connect(Receiver r) const {
      return {*of, std::move(r)};
    }
    gate* of;
  };
  sender when_open() noexcept { return {this}; }

 private:
  operation_base opened_;
  std::atomic<operation_base*> waits_{nullptr};
};

/// A wait for an object of its own, which is shut at first.
struct way_to_wait {
  /// As reports name it.
  std::string call;
  /// Returns once the object is open. It is called once more only if a limit ended it.
  std::function<void(fj::wait_options)> wait;
  /// Once, by the strand that made the object.
  std::function<void()> open;
  /// Whether the wait would be over, if an operation asks that. Called while the object is shut, and nothing waits.
  std::function<bool()> ask = {};
  /// Opening may wait itself, for a lock. Else it never waits.
  bool open_may_wait = false;
};

/// Functions that make an object each.
inline const std::vector<way_to_wait (*)()> ways_to_wait{
    [] {
      const fj::channel<int> c(1);
      c.send(1);
      return way_to_wait{"fj::channel::send", [=](auto limit) { c.send(2, limit); }, [=] { c.receive(); },
                         [=] { return c.try_send(2); }, true};
    },
    [] {
      const fj::channel<int> c(0);
      return way_to_wait{"fj::channel::receive", [=](auto limit) { c.receive(limit); }, [=] { c.close(); },
                         [=] { return c.try_receive().has_value(); }};
    },
    [] {
      const auto m = std::make_shared<fj::mutex>();
      m->lock();
      const auto wait = [=](auto limit) {
        m->lock(limit);
        m->unlock();
      };
      return way_to_wait{"fj::mutex::lock", wait, [=] { m->unlock(); }, [=] { return m->try_lock(); }};
    },
    [] {
      const auto m = std::make_shared<fj::shared_mutex>();
      m->lock();
      const auto wait = [=](auto limit) {
        m->lock(limit);
        m->unlock();
      };
      return way_to_wait{"fj::shared_mutex::lock", wait, [=] { m->unlock(); }, [=] { return m->try_lock(); }};
    },
    [] {
      const auto m = std::make_shared<fj::shared_mutex>();
      m->lock();
      const auto wait = [=](auto limit) {
        m->lock_shared(limit);
        m->unlock_shared();
      };
      return way_to_wait{"fj::shared_mutex::lock_shared", wait, [=] { m->unlock(); },
                         [=] { return m->try_lock_shared(); }};
    },
    [] {
      struct object {
        fj::mutex m;
        fj::condition_variable changed;
        bool is_open = false;
      };
      const auto o = std::make_shared<object>();
      const auto wait = [=](auto limit) {
        std::unique_lock lock(o->m);
        o->changed.wait(lock, [=] { return o->is_open; }, limit);
      };
      const auto open = [=] {
        const std::scoped_lock lock(o->m);
        o->is_open = true;
        o->changed.notify_one();
      };
      return way_to_wait{"fj::condition_variable::wait", wait, open, {}, true};
    },
    [] {
      const auto s = std::make_shared<fj::semaphore>(0);
      return way_to_wait{"fj::semaphore::acquire", [=](auto limit) { s->acquire(limit); }, [=] { s->release(); },
                         [=] { return s->try_acquire(); }};
    },
    [] {
      const auto g = std::make_shared<fj::wait_group>();
      g->add();
      return way_to_wait{"fj::wait_group::wait", [=](auto limit) { g->wait(limit); }, [=] { g->done(); }};
    },
    [] {
      const auto l = std::make_shared<fj::latch>(1);
      return way_to_wait{"fj::latch::wait", [=](auto limit) { l->wait(limit); }, [=] { l->count_down(); },
                         [=] { return l->try_wait(); }};
    },
    [] {
      struct object {
        fj::barrier<> b{3};
        fj::barrier<>::arrival_token arrival = b.arrive();
        bool arrived = false;
      };
      const auto o = std::make_shared<object>();
      const auto wait = [=](auto limit) {
        if (std::exchange(o->arrived, true)) return o->b.wait(std::move(o->arrival), limit);
        o->b.arrive_and_wait(limit);  // if a limit ends that, it has arrived all the same
      };
      return way_to_wait{"fj::barrier::arrive_and_wait", wait, [=] { static_cast<void>(o->b.arrive()); }};
    },
    [] {
      struct object {
        fj::barrier<> b{2};
        fj::barrier<>::arrival_token arrival = b.arrive();
      };
      const auto o = std::make_shared<object>();
      return way_to_wait{"fj::barrier::wait", [=](auto limit) { o->b.wait(std::move(o->arrival), limit); },
                         [=] { static_cast<void>(o->b.arrive()); }};
    },
    [] {
      const auto p = std::make_shared<fj::promise<int>>();
      const auto f = std::make_shared<fj::future<int>>(p->get_future());
      return way_to_wait{"fj::future::wait", [=](auto limit) { f->wait(limit); }, [=] { p->set_value(1); },
                         [=] { return f->ready(); }};
    },
    [] {
      struct object {
        fj::task_group group;
        std::optional<fj::task_group::reservation> task = group.reserve();
      };
      const auto o = std::make_shared<object>();
      return way_to_wait{"fj::task_group::wait", [=](auto limit) { o->group.wait(limit); }, [=] { o->task.reset(); }};
    },
    [] {
      const fj::channel<int> c(0), none;
      const auto wait = [=](auto limit) {
        fj::select(limit, fj::on_receive(none, [](auto) {}), fj::on_receive(c, [](auto) {}));
      };
      return way_to_wait{"fj::select", wait, [=] { c.close(); }};
    },
    [] {
      const fj::channel<int> c(0);
      const auto any = std::make_shared<fj::select_list>();
      any->on_receive(c, [](auto) {});
      return way_to_wait{"fj::select_list::select", [=](auto limit) { any->select(limit); }, [=] { c.close(); },
                         [=] { return any->try_select().has_value(); }};
    },
    [] {
      const auto p = std::make_shared<fj::promise<int>>();
      const auto all = std::make_shared<std::vector<fj::future<int>>>();
      all->push_back(p->get_future());
      return way_to_wait{"fj::wait_any", [=](auto limit) { fj::wait_any(*all, limit); }, [=] { p->set_value(1); }};
    },
    [] {
      const auto g = std::make_shared<gate>();
      return way_to_wait{"fj::wait", [=](auto limit) { fj::wait(g->when_open(), limit); }, [=] { g->open(); }};
    },
};

}  // namespace test
