// Power series as fibers: each series is a fiber that gives its next coefficient when it is asked. The case powser1.go
// of Go's tests (McIlroy, "Squinting at power series", 1990), written anew: here a series whose user is gone ends, and
// so do those that it uses.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forkjoin/go.hpp"
#include "test/support.hpp"

namespace {

struct rational {
  std::int64_t over = 0, under = 1;

  static rational of(std::int64_t over, std::int64_t under) {
    const std::int64_t common = (under < 0 ? -1 : 1) * std::gcd(over, under);
    return {over / common, under / common};
  }
  friend rational operator+(rational a, rational b) {
    const std::int64_t common = std::gcd(a.under, b.under);
    return of(a.over * (b.under / common) + b.over * (a.under / common), a.under / common * b.under);
  }
  friend rational operator*(rational a, rational b) {
    const rational c = of(a.over, b.under), d = of(b.over, a.under);
    return {c.over * d.over, c.under * d.under};
  }
  friend bool operator==(const rational&, const rational&) = default;
};

struct empty {};

// What the fiber of a series and its user share.
struct line {
  fj::channel<empty> ask{0};
  fj::channel<rational> give{0};

  // By the fiber. False if the user is gone. Only then does it ask others, so that all is quiet when the user goes.
  bool asked() const { return ask.receive().has_value(); }
  void answer(rational value) const { give.send(value); }
};

// The user's end. Its end ends the fiber.
class series {
 public:
  explicit series(line l) : line_(std::move(l)) {}
  series(series&& other) noexcept : line_(std::exchange(other.line_, none())) {}
  series& operator=(series&&) = delete;
  ~series() {
    if (line_.ask) line_.ask.close();
  }

  rational get() const {
    line_.ask.send({});
    return *line_.give.receive();
  }

 private:
  static line none() { return {fj::channel<empty>(), fj::channel<rational>()}; }
  line line_;
};

template <class Body>
series produce(Body body) {
  const line l;
  static_cast<void>(fj::go([l, body = std::move(body)]() mutable { body(l); }));
  return series(l);
}

void copy(const series& from, const line& to) {
  while (to.asked()) to.answer(from.get());
}

// Two series alike, each with a fiber of its own: while one waits for the next coefficient, the other gives those
// before it, which that one may need (a series that is made of itself). `last`: the side whose end is the end of the
// original.
class both_sides {
 public:
  both_sides(series from, int last) : from_(std::move(from)), last_(last) {}

  rational at(std::size_t n) {
    if (const auto kept = look(n)) return *kept;
    const std::lock_guard alone(fetching_);
    if (const auto kept = look(n)) return *kept;  // the other side was faster
    const rational next = from_->get();
    const std::lock_guard lock(keeping_);
    kept_.push_back(next);
    return next;
  }
  void end(int side) {
    const std::lock_guard alone(fetching_);
    if (side == last_ || --sides_ == 0) from_.reset();
  }

 private:
  std::optional<rational> look(std::size_t n) {
    const std::lock_guard lock(keeping_);
    return n < kept_.size() ? std::optional(kept_[n]) : std::nullopt;
  }

  fj::mutex fetching_, keeping_;
  std::optional<series> from_;
  std::vector<rational> kept_;
  int sides_ = 2;
  const int last_;
};

std::array<series, 2> split(series from, int last = -1) {
  const auto shared = std::make_shared<both_sides>(std::move(from), last);
  const auto side = [&](int which) {
    return produce([shared, which](const line& to) {
      for (std::size_t n = 0; to.asked(); ++n) to.answer(shared->at(n));
      shared->end(which);
    });
  };
  return {side(0), side(1)};
}

// A series that is made of itself: make(itself) gives the whole.
template <class Make>
series tie(Make make) {
  const line back;
  auto [fed, result] = split(make(series(back)), 1);
  static_cast<void>(fj::go([back, fed = std::move(fed)] { copy(fed, back); }));
  return std::move(result);
}

series ones() {
  return produce([](const line& to) {
    while (to.asked()) to.answer({1, 1});
  });
}

series polynomial(std::vector<rational> coefficients) {
  return produce([c = std::move(coefficients)](const line& to) {
    for (std::size_t n = 0; to.asked(); ++n) to.answer(n < c.size() ? c[n] : rational());
  });
}

series add(series a, series b) {
  return produce([a = std::move(a), b = std::move(b)](const line& to) {
    while (to.asked()) to.answer(a.get() + b.get());
  });
}

series scale(rational by, series a) {
  return produce([by, a = std::move(a)](const line& to) {
    while (to.asked()) to.answer(by * a.get());
  });
}

// The product of a0 + xA and b0 + xB is a0 b0 + x (a0 B + b0 A + x A B).
series multiply(series a, series b) {
  return produce([a = std::move(a), b = std::move(b)](const line& to) mutable {
    if (!to.asked()) return;
    const rational a0 = a.get(), b0 = b.get();
    to.answer(a0 * b0);
    if (!to.asked()) return;
    auto [first, later] = split(std::move(a));
    auto [other, later_other] = split(std::move(b));
    const series sum = add(scale(a0, std::move(other)), scale(b0, std::move(first)));
    to.answer(sum.get());
    const series product = multiply(std::move(later), std::move(later_other));
    while (to.asked()) to.answer(sum.get() + product.get());
  });
}

series differentiate(series a) {
  return produce([a = std::move(a)](const line& to) {
    for (std::int64_t n = 1; to.asked(); ++n) {
      if (n == 1) static_cast<void>(a.get());
      to.answer(rational{n, 1} * a.get());
    }
  });
}

series integrate(rational constant, series a) {
  return produce([constant, a = std::move(a)](const line& to) {
    for (std::int64_t n = 0; to.asked(); ++n) to.answer(n == 0 ? constant : rational::of(1, n) * a.get());
  });
}

// E = e^A, where A has no constant term: E' = A'E.
series exponential(series a) {
  return tie([a = std::move(a)](series e) mutable {
    return integrate({1, 1}, multiply(std::move(e), differentiate(std::move(a))));
  });
}

// R = 1 / (a0 + xA): R = (1 - xAR) / a0.
series reciprocal(series a) {
  return tie([a = std::move(a)](series r) mutable {
    return produce([a = std::move(a), r = std::move(r)](const line& to) mutable {
      if (!to.asked()) return;
      const rational a0 = a.get(), by = rational::of(a0.under, a0.over);
      to.answer(by);
      const series rest = scale(rational{-1, 1} * by, multiply(std::move(a), std::move(r)));
      copy(rest, to);
    });
  });
}

void check(const std::string& what, const series& s, const std::vector<rational>& expected) {
  for (const rational each : expected) {
    const rational got = s.get();
    if (got == each) continue;
    FAIL_CHECK(what << ": " << got.over << "/" << got.under << " in place of " << each.over << "/" << each.under);
  }
}

}  // namespace

TEST_CASE("power series: sums, products, exponentials and reciprocals of series that are fibers (powser1.go)") {
  test::for_each_runtime("power series", [](fj::runtime& rt, unsigned, test::stealing) {
    // The end of a runtime waits for its fibers, so all series have ended after it. Tried with a ~series that closes
    // nothing.
    rt.run([] {
      check("ones", ones(), {{1, 1}, {1, 1}, {1, 1}});
      check("a sum", add(ones(), scale({2, 3}, ones())), {{5, 3}, {5, 3}, {5, 3}});
      check("a product", multiply(ones(), ones()), {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}});
      check("a derivative", differentiate(ones()), {{1, 1}, {2, 1}, {3, 1}, {4, 1}});
      check("an integral", integrate({}, ones()), {{0, 1}, {1, 1}, {1, 2}, {1, 3}, {1, 4}});
      check("e^x", exponential(polynomial({{0, 1}, {1, 1}})), {{1, 1}, {1, 1}, {1, 2}, {1, 6}, {1, 24}, {1, 120}});
      // From powser1.go: e to the sum of all powers but the zeroth, and arcus tangens.
      check("e^(x/(1-x))", exponential(integrate({}, multiply(ones(), ones()))),
            {{1, 1}, {1, 1}, {3, 2}, {13, 6}, {73, 24}, {167, 40}, {4051, 720}});
      check("1/(1-x)", reciprocal(polynomial({{1, 1}, {-1, 1}})), {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
      check("1/2 + x/4 ...", reciprocal(polynomial({{2, 1}, {-1, 1}})), {{1, 2}, {1, 4}, {1, 8}, {1, 16}});
      check("arcus tangens", integrate({}, reciprocal(polynomial({{1, 1}, {0, 1}, {1, 1}}))),
            {{0, 1}, {1, 1}, {0, 1}, {-1, 3}, {0, 1}, {1, 5}, {0, 1}, {-1, 7}});
    });
  });
}
