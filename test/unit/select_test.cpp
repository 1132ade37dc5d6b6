// Waits for one of several channels. The cases that name a file are those of Go's tests, written anew.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "forkjoin/go.hpp"
#include "test/support.hpp"

TEST_CASE("select: the index, the handler, and the case for none") {
  test::for_each_runtime("select", [](fj::runtime& rt, unsigned, test::stealing) {
    rt.run([] {
      fj::channel<int> a(1), b(1), none;
      int got = 0;
      CHECK(fj::select(fj::on_receive(a, [](std::optional<int>) {}), fj::otherwise([&] { got = -1; })) == 1);
      CHECK(got == -1);
      b.send(5);
      CHECK(fj::select(fj::on_receive(a, [](std::optional<int>) {}), fj::on_receive(none, [](std::optional<int>) {}),
                       fj::on_receive(b, [&](std::optional<int> v) { got = *v; })) == 2);
      CHECK(got == 5);
      CHECK(fj::select(fj::on_send(a, 7, [&] { got = 1; }), fj::otherwise([&] { got = 2; })) == 0);
      CHECK(got == 1);
      CHECK(*a.receive() == 7);
      CHECK(fj::select(fj::otherwise([&] { got = 3; })) == 0);
      CHECK(got == 3);
    });
  });
}

TEST_CASE("select: closed channels are ready: receives are empty, sends throw") {
  test::for_each_runtime("select on closed channels", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::channel<int> closed(0), open(0);
    auto waits = rt.go([=] {
      bool was_empty = false;
      fj::select(fj::on_receive(open, [](std::optional<int>) {}),
                 fj::on_receive(closed, [&](std::optional<int> v) { was_empty = !v; }));
      return was_empty;
    });
    auto sends = rt.go([=] {
      try {
        fj::select(fj::on_send(closed, 1, [] {}), fj::on_receive(open, [](std::optional<int>) {}));
      } catch (const fj::channel_closed&) {
        return true;
      }
      return false;
    });
    // The send may meet the receive; then the receive is not empty, and the send does not throw.
    closed.close();
    const bool was_empty = waits.get();
    CHECK(sends.get() == was_empty);
  });
}

TEST_CASE("select: one of two that are ready is taken about as often as the other (chan_test.go: SelectFairness)") {
  // Tried without shuffle: the first was always taken.
  fj::runtime rt(test::with_procs(2));
  rt.run([] {
    fj::channel<int> a(1), b(1);
    std::array<int, 2> taken{};
    const int n = 2000;
    for (int i = 0; i < n; ++i) {
      static_cast<void>(a.try_send(0));
      static_cast<void>(b.try_send(0));
      ++taken[fj::select(fj::on_receive(a, [](std::optional<int>) {}), fj::on_receive(b, [](std::optional<int>) {}))];
    }
    // Each has the binomial distribution with p = 1/2: 1000 +- 22; eight sigma.
    CHECK(taken[0] > 820);
    CHECK(taken[1] > 820);
  });
}

TEST_CASE("select: of two sends on one channel each is taken often (chan_test.go: PseudoRandomSend)") {
  // Tried with entries queued in the order of the cases: the second was sent 11 times of 200.
  test::for_each_runtime("random sends", [](fj::runtime& rt, unsigned, test::stealing) {
    constexpr int n = 200;
    for (const std::size_t capacity : {0, n}) {
      const fj::channel<int> c(capacity);
      auto receives = rt.go([=] {
        int sum = 0;
        for (int i = 0; i < n; ++i) {
          fj::yield();
          sum += *c.receive();
        }
        return sum;
      });
      rt.go([=] {
          for (int i = 0; i < n; ++i) fj::select(fj::on_send(c, 0, [] {}), fj::on_send(c, 1, [] {}));
        }).get();
      const int sent = receives.get();
      // The binomial distribution, 100 +- 7: eight sigma.
      CHECK(sent > 43);
      CHECK(sent < 157);
    }
  });
}

TEST_CASE("select: a case that was not chosen leaves the queue, and those around it stay (select6.go)") {
  test::for_each_runtime("entries in the middle", [](fj::runtime& rt, unsigned, test::stealing) {
    for (int round = 0; round < test::divided(100); ++round) {
      const fj::channel<int> c(0), other(0);
      auto first = rt.go([=] { return *c.receive(); });
      auto chooses = rt.go([=] {
        int got = 0;
        fj::select(fj::on_receive(c, [](std::optional<int>) {}),
                   fj::on_receive(other, [&](std::optional<int> v) { got = *v; }));
        return got;
      });
      auto last = rt.go([=] { return *c.receive(); });
      other.send(5);
      // The select has ended by it, or it took a value of c, and then there is one for each of the others still.
      CHECK(chooses.get() == 5);
      c.send(1);
      c.send(2);
      CHECK(first.get() + last.get() == 3);
    }
  });
}

TEST_CASE("select: every way to receive meets every way to send (select7.go)") {
  test::for_each_runtime("ways to meet", [](fj::runtime& rt, unsigned, test::stealing) {
    using channel = fj::channel<int>;
    const channel never(0);
    const auto ignore = [](std::optional<int>) {};
    int (*const receives[])(const channel&, const channel&) = {
        [](const channel& c, const channel&) { return *c.receive(); },
        [](const channel& c, const channel&) {
          int got = 0;
          fj::select(fj::on_receive(c, [&](std::optional<int> v) { got = *v; }));
          return got;
        },
        [](const channel& c, const channel& never) {
          int got = 0;
          fj::select(fj::on_receive(never, [](std::optional<int>) {}),
                     fj::on_receive(c, [&](std::optional<int> v) { got = *v; }));
          return got;
        }};
    const auto send_once = [&](const channel& c, int how) {
      if (how == 0) {
        c.send(how);
      } else if (how == 1) {
        while (fj::select(fj::on_send(c, how, [] {}), fj::otherwise([] {})) == 1) fj::yield();
      } else if (how == 2) {
        fj::select(fj::on_send(c, how, [] {}));
      } else {
        fj::select(fj::on_receive(never, ignore), fj::on_send(c, how, [] {}));
      }
    };
    for (const auto receive : receives) {
      for (int how = 0; how < 4; ++how) {
        const channel c(0);
        auto received = rt.go([=] { return receive(c, never); });
        rt.go([=] { send_once(c, how); }).get();
        CHECK(received.get() == how);
      }
    }
  });
}

TEST_CASE("select: the two sides of one channel never meet themselves (chan_test.go: SelfSelect)") {
  test::for_each_runtime("select on both sides", [](fj::runtime& rt, unsigned, test::stealing) {
    for (const std::size_t capacity : {0u, 10u}) {
      fj::channel<int> c(capacity);
      std::vector<fj::future<bool>> both;
      for (int p = 0; p < 2; ++p) {
        both.push_back(rt.go([=]() mutable {
          bool right = true;
          for (int i = 0; i < test::divided(1000); ++i) {
            if (p == 0 || i % 2 == 0) {
              fj::select(fj::on_send(c, p, [] {}), fj::on_receive(c, [&](std::optional<int> v) {
                           if (capacity == 0 && *v == p) right = false;
                         }));
            } else {
              fj::select(fj::on_receive(c,
                                        [&](std::optional<int> v) {
                                          if (capacity == 0 && *v == p) right = false;
                                        }),
                         fj::on_send(c, p, [] {}));
            }
          }
          return right;
        }));
      }
      for (auto& each : both) CHECK(each.get());
    }
  });
}

TEST_CASE("select: a case takes effect exactly once among many that wait (doubleselect.go)") {
  test::for_each_runtime("double select", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::channel<int> c1(0), c2(0), c3(0), c4(0), done(0);
    const int n = test::divided(1000);
    auto sends = rt.go([=]() mutable {
      for (int i = 0; i < n; ++i) {
        fj::select(fj::on_send(c1, i, [] {}), fj::on_send(c2, i, [] {}), fj::on_send(c3, i, [] {}),
                   fj::on_send(c4, i, [] {}));
      }
      c1.close();
      c2.close();
      c3.close();
      c4.close();
    });
    std::vector<fj::future<void>> forwards;
    fj::channel<int> merged(0);
    for (fj::channel<int> from : {c1, c2, c3, c4}) {
      forwards.push_back(rt.go([=]() mutable {
        for (const int each : from) merged.send(each);
      }));
    }
    auto closes = rt.go([&] {
      for (auto& each : forwards) each.get();
      merged.close();
    });
    std::vector<int> times(static_cast<std::size_t>(n));
    for (const int each : merged) ++times[static_cast<std::size_t>(each)];
    for (const int t : times) CHECK(t == 1);
    sends.get();
    closes.get();
  });
}

TEST_CASE("select: four fibers exchange values over four channels in random order (chan_test.go: SelectStress)") {
  test::for_each_runtime("select stress", [](fj::runtime& rt, unsigned, test::stealing) {
    std::array<fj::channel<int>, 4> c{fj::channel<int>(0), fj::channel<int>(0), fj::channel<int>(2),
                                      fj::channel<int>(3)};
    const int n = test::divided(1000);
    std::vector<fj::future<void>> all;
    for (int k = 0; k < 4; ++k) {
      all.push_back(rt.go([=]() mutable {
        for (int i = 0; i < n; ++i) c[static_cast<std::size_t>(k)].send(i);
      }));
      all.push_back(rt.go([=]() mutable {
        for (int i = 0; i < n; ++i) {
          if (*c[static_cast<std::size_t>(k)].receive() < 0) return;
        }
      }));
    }
    // And two that do all by select.
    all.push_back(rt.go([=]() mutable {
      std::array<int, 4> left{n, n, n, n};
      fj::channel<int> none;
      for (int i = 0; i < 4 * n; ++i) {
        auto from = [&](std::size_t k) { return left[k] > 0 ? c[k] : none; };
        --left[fj::select(fj::on_send(from(0), 0, [] {}), fj::on_send(from(1), 0, [] {}),
                          fj::on_send(from(2), 0, [] {}), fj::on_send(from(3), 0, [] {}))];
      }
    }));
    all.push_back(rt.go([=]() mutable {
      std::array<int, 4> left{n, n, n, n};
      fj::channel<int> none;
      auto ignore = [](std::optional<int>) {};
      for (int i = 0; i < 4 * n; ++i) {
        auto from = [&](std::size_t k) { return left[k] > 0 ? c[k] : none; };
        --left[fj::select(fj::on_receive(from(0), ignore), fj::on_receive(from(1), ignore),
                          fj::on_receive(from(2), ignore), fj::on_receive(from(3), ignore))];
      }
    }));
    for (auto& each : all) each.get();
    for (auto& each : c) CHECK(each.size() == 0);
  });
}

TEST_CASE("select: an attempt never misses what is there (chan_test.go: NonblockSelectRace)") {
  test::for_each_runtime("attempts that race", [](fj::runtime& rt, unsigned, test::stealing) {
    for (int round = 0; round < test::divided(1000); ++round) {
      fj::channel<int> c1(1), c2(1);
      c1.send(1);
      auto moves = rt.go([=]() mutable {
        c2.send(1);
        static_cast<void>(c1.try_receive());
      });
      // c2 is filled before c1 is emptied: at every moment one of them has a value.
      bool found = true;
      fj::select(fj::on_receive(c1, [](std::optional<int>) {}), fj::on_receive(c2, [](std::optional<int>) {}),
                 fj::otherwise([&] { found = false; }));
      CHECK(found);
      moves.get();
    }
  });
}

TEST_CASE(
    "select: one channel several times, and no channel at all (chan_test.go: SelectDuplicateChannel; select5.go)") {
  test::for_each_runtime("a channel twice", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::channel<int> c(0), d(0), e(0), none;
    auto waits = rt.go([=] {
      int got = 0;
      auto take = [&](std::optional<int> v) { got += *v; };
      fj::select(fj::on_receive(c, take), fj::on_receive(d, take), fj::on_receive(c, take), fj::on_receive(none, take));
      fj::select(fj::on_receive(c, take), fj::on_receive(e, take), fj::on_receive(c, take));
      return got;
    });
    d.send(1);
    e.send(2);
    CHECK(waits.get() == 3);
  });
}

TEST_CASE("select: a wait that is stopped takes none of its cases") {
  test::for_each_runtime("a stopped select", [](fj::runtime& rt, unsigned, test::stealing) {
    fj::channel<int> c(0), d(0);
    auto waits = rt.go([=](fj::stop_token stop) {
      try {
        fj::select(fj::wait_options{.stop = &stop}, fj::on_receive(c, [](std::optional<int>) {}),
                   fj::on_send(d, 1, [] {}));
      } catch (const fj::cancelled&) {
        return true;
      }
      return false;
    });
    waits.request_stop();
    CHECK(waits.get());
    CHECK(!c.try_send(1));
    CHECK(!d.try_receive());
  });
}

// Tried with the value left in a case that was received: select gives it again when the channel is closed; and without
// the error: the value, which was moved away, is sent once more.
TEST_CASE("select: cases with names, in several calls") {
  test::for_each_runtime("names", [](fj::runtime& rt, unsigned, test::stealing) {
    rt.run([] {
      fj::channel<std::string> c(4);
      std::vector<std::string> got;
      bool closed = false;
      auto receive = fj::on_receive(c, [&](std::optional<std::string> s) {
        if (s)
          got.push_back(std::move(*s));
        else
          closed = true;
      });
      auto send = fj::on_send(c, std::string(100, 'x'), [] {});
      c.send("first");
      while (got.empty()) fj::select(receive);
      CHECK(fj::select(send, fj::otherwise([] {})) == 0);
      CHECK_THROWS_AS(fj::select(send, fj::otherwise([] {})), std::logic_error);
      c.close();
      while (!closed) fj::select(receive);
      CHECK(got == std::vector<std::string>{"first", std::string(100, 'x')});
    });
  });
}

// Tried with the handler of each case that is the chosen object: it ran twice.
TEST_CASE("select: a case that stands twice in one call runs its handler once") {
  test::for_each_procs([](unsigned p) {
    const test::watchdog dog("a case twice", p);
    fj::runtime rt(test::with_procs(p));
    rt.run([] {
      fj::channel<int> c(4);
      int received = 0, sum = 0;
      auto each = fj::on_receive(c, [&](std::optional<int> value) {
        ++received;
        sum += value.value_or(0);
      });
      for (int i = 1; i <= 3; ++i) c.send(i);
      for (int i = 0; i < 3; ++i) CHECK(fj::select(each, each) == 0);
      auto late = fj::go([=] { c.send(10); });
      CHECK(fj::select(each, each) == 0);
      late.get();
      CHECK(received == 4);
      CHECK(sum == 16);
      int sent = 0;
      auto sends = fj::on_send(c, 7, [&] { ++sent; });
      CHECK(fj::select(sends, sends, sends) == 0);
      CHECK(sent == 1);
      CHECK(c.size() == 1);
    });
  });
}
