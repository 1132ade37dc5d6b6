// The prime sieve of Go's test/chan/sieve2.go, written anew. (sieve1.go: channel_test.cpp.)
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "forkjoin/go.hpp"
#include "test/support.hpp"

namespace {

using channel = fj::channel<int>;

}  // namespace

// Odd numbers are candidates. Fibers that send the multiples of a prime are merged into what is no prime, and the
// primes that come out go back to the one that merges. It takes them much more slowly than they come, so a fiber in
// between keeps them. Tried: without that fiber all wait for one another.
TEST_CASE("sieve: a prime sieve that merges multiples, with a feedback (sieve2.go)") {
  test::for_each_runtime("the second sieve", [](fj::runtime& rt, unsigned, test::stealing) {
    const std::size_t n = test::divided(300u) + 10;
    fj::stop_source over;
    const fj::stop_token stop = over.get_token();
    std::vector<fj::future<void>> parts;
    std::mutex parts_mutex;
    const auto start = [&](auto part) {
      const std::scoped_lock lock(parts_mutex);
      parts.push_back(rt.go([=]() mutable {
        try {
          part();
        } catch (const fj::cancelled&) {}
      }));
    };
    const auto count = [&](int from, int step, std::size_t room) {
      const channel to(room);
      start([=] {
        for (int i = from;; i += step) to.send(i, {.stop = &stop});
      });
      return to;
    };
    const auto next = [=](const channel& from) { return *from.receive({.stop = &stop}); };

    const channel out(10), composites(50), primes(10), kept(10);
    for (const int first : {2, 3}) out.send(first);
    primes.send(3);
    start([=] {  // merges
      struct source {
        int head;
        channel rest;
      };
      const auto later = [](const source& a, const source& b) { return a.head > b.head; };
      std::vector<source> merged;
      int smallest = 15;
      const auto advance = [&] {
        std::pop_heap(merged.begin(), merged.end(), later);
        smallest = std::exchange(merged.back().head, next(merged.back().rest));
        std::push_heap(merged.begin(), merged.end(), later);
        return smallest;
      };
      const auto add = [&](int head, const channel& rest) {
        merged.push_back({head, rest});
        std::push_heap(merged.begin(), merged.end(), later);
      };
      for (;;) {
        const int prime = next(primes);
        const channel multiples = count(prime * prime, 2 * prime, 10);
        const int head = next(multiples);
        while (smallest < head) {
          composites.send(smallest, {.stop = &stop});
          advance();
        }
        while (smallest == head) advance();
        composites.send(head, {.stop = &stop});
        add(next(multiples), multiples);
      }
    });
    start([=] {  // keeps
      std::deque<int> all;
      for (;;)
        fj::select(
            {.stop = &stop}, fj::on_receive(kept, [&](std::optional<int> prime) { all.push_back(*prime); }),
            fj::on_send(all.empty() ? channel() : primes, all.empty() ? 0 : all.front(), [&] { all.pop_front(); }));
    });
    start([=] {  // sieves
      const channel candidates = count(5, 2, 50);
      for (int prime = next(candidates);;) {
        const int composite = next(composites);
        for (; prime < composite; prime = next(candidates)) {
          kept.send(prime, {.stop = &stop});
          out.send(prime, {.stop = &stop});
        }
        if (prime == composite) prime = next(candidates);
      }
    });
    std::size_t wrong = 0;
    for (int i = 2, found = 0; found < static_cast<int>(n); ++i) {
      bool is_prime = true;
      for (int k = 2; k * k <= i; ++k) is_prime = is_prime && i % k != 0;
      if (!is_prime) continue;
      ++found;
      wrong += *out.receive() != i;
    }
    CHECK(wrong == 0);
    over.request_stop();
    for (std::size_t i = 0;; ++i) {
      fj::future<void> each;
      {
        const std::scoped_lock lock(parts_mutex);
        if (i == parts.size()) break;
        each = std::move(parts[i]);
      }
      each.get();
    }
  });
}
