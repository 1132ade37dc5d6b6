// Forks by a policy that is given as an object.
#pragma once

#include <utility>

#include "forkjoin/fork_join.hpp"
#include "test/support.hpp"

namespace test {

template <class Policy, class... F>
auto fork(Policy, F&&... f) {
  return fj::fork_join<Policy>(std::forward<F>(f)...);
}

template <class Policy>
long fib(Policy policy, int n) {
  if (n < 2) return n;
  auto [a, b] = fork(policy, [=] { return fib(policy, n - 1); }, [=] { return fib(policy, n - 2); });
  return a + b;
}

/// Calls body(rt, policy) with every kind of runtime, and with each policy.
template <class Body>
void everywhere(const char* what, Body body) {
  test::for_each_runtime(what, [&](fj::runtime& rt, unsigned p, test::stealing how) {
    CAPTURE(p);
    CAPTURE(test::name_of(how));
    test::for_each_policy([&](auto policy) { body(rt, policy); });
  });
}

}  // namespace test
