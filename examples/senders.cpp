// Senders of C++26: requests that fork on a runtime's scheduler, a branch that waits for a sender, and a coroutine that
// moves to a P. Needs std::execution or stdexec. Usage: senders

#include <atomic>
#include <coroutine>
#include <exception>
#include <forkjoin/execution.hpp>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <utility>

#if defined(__cpp_lib_senders)
namespace ex = std::execution;
#else
namespace ex = stdexec;
#endif

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

// What a library of senders hands to a scheduler: a request may fork, and wait.
auto request(fj::runtime& on, int n) {
  return ex::schedule(on.scheduler()) | ex::then([=] { return fib(n); });
}

// Goes on by itself, and is destroyed at its end.
struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

detached add_later(fj::future<long> part, fj::scheduler to, fj::promise<long> sum) {
  const long first = co_await std::move(part);  // holds no thread
  co_await to;                                  // on a P: it may fork from here on
  sum.set_value(first + fib(10));
}

int main() {
  fj::runtime rt, other;
  std::cout << fj::wait(request(rt, 20)) << '\n';

  // While this branch waits for the other runtime, its worker does other work.
  auto [here, there] =
      rt.run([&] { return fj::fork_join([] { return fib(20); }, [&] { return fj::wait(request(other, 15)); }); });
  std::cout << here + there << '\n';

  std::atomic<long> sum = 0;
  fj::wait(ex::schedule(rt.scheduler()) | ex::bulk_chunked(ex::par, 1000, [&](int first, int last) {
             for (; first < last; ++first) sum += first;
           }));
  std::cout << sum << '\n';

  fj::promise<long> of_both;
  fj::future<long> both = of_both.get_future();
  add_later(rt.go([] { return fib(10); }), rt.scheduler(), std::move(of_both));
  std::cout << both.get() << '\n';
}
