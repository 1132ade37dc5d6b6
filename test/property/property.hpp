// What the property tests share: random inputs, the runtimes to try them in, values that count their instances and throw
// when told to, and iterators that are less than pointers.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "forkjoin/forkjoin.hpp"
#include "test/support.hpp"

namespace test {

/// How many random inputs each property is tried with in each runtime.
inline unsigned inputs() { return divided(10'000u); }

/// Calls body(runtime) for P = 1, 2, 8, and for 2 and 8 with every fork stolen.
template <class Body>
void for_each_team(const char* what, Body body) {
  for (const stealing how : {stealing::by_need, stealing::every_fork})
    for (const unsigned p : {1u, 2u, 8u}) {
      if (p == 1 && how == stealing::every_fork) continue;  // nobody there to steal
      CAPTURE(p);
      CAPTURE(name_of(how));
      const watchdog dog(what, p, 300);
      fj::runtime rt(with(p, how));
      body(rt);
    }
}

/// Calls body(dice) inside each of these runtimes, once for each random input. Fails with the seed of the first input for
/// which it returns false.
template <class Body>
void for_all(const char* what, Body body) {
  for_each_team(what, [&](fj::runtime& rt) {
    for (std::uint64_t seed = 1; seed <= inputs(); ++seed) {
      CAPTURE(seed);
      const bool holds = rt.run([&] {
        dice random(seed);
        return body(random);
      });
      REQUIRE(holds);
    }
  });
}

/// The size of an input: often 0 or next to it, mostly below a hundred, now and then some thousands.
inline std::size_t random_size(dice& random) {
  switch (random.below(8)) {
    case 0:
      return random.below(4);
    case 1:
      return random.once_in(8) ? random.below(5000) : random.below(600);
    default:
      return random.below(100);
  }
}

/// The grain of a loop: mostly automatic.
inline std::size_t random_grain(dice& random) { return random.once_in(2) ? 0 : 1 + random.below(40); }

/// `n` numbers in [0, bound); small bounds give many equal ones.
inline std::vector<int> random_ints(dice& random, std::size_t n, unsigned bound = 1000) {
  std::vector<int> all(n);
  for (int& x : all) x = static_cast<int>(random.below(bound));
  return all;
}

/// As `random_ints`, of a random size with a random bound.
inline std::vector<int> random_ints(dice& random) {
  constexpr unsigned bounds[] = {1, 2, 10, 1000, 1'000'000};
  const std::size_t n = random_size(random);
  return random_ints(random, n, bounds[random.below(5)]);
}

/// Thrown by `trap::step`.
struct sprung : std::runtime_error {
  sprung() : std::runtime_error("the trap") {}
};

/// Throws at the k-th of the steps that go through it, from whatever thread they come. 0: never.
class trap {
 public:
  static void arm(long k) noexcept { left_.store(k, std::memory_order_relaxed); }

  static void step() {
    if (left_.load(std::memory_order_relaxed) > 0 && left_.fetch_sub(1, std::memory_order_relaxed) == 1) throw sprung();
  }

 private:
  static inline std::atomic<long> left_ = 0;
};

/// An int that cannot be made without a value, counts its living instances, ends the process when it is used after its end
/// or destroyed twice, and goes through the trap when it is made or copied. Moves do not throw, and leave -1.
class counted {
 public:
  explicit counted(int value) : value_(value) {
    trap::step();
    ++living_;
  }
  counted(const counted& other) : value_(other.value()) {
    trap::step();
    ++living_;
  }
  counted(counted&& other) noexcept : value_(std::exchange(other.check().value_, -1)) { ++living_; }

  counted& operator=(const counted& other) {
    check();
    trap::step();
    value_ = other.value();
    return *this;
  }
  counted& operator=(counted&& other) noexcept {
    check().value_ = other.check().value_;
    if (this != &other) other.value_ = -1;
    return *this;
  }

  ~counted() {
    check().life_ = dead;
    --living_;
  }

  int value() const noexcept { return check().value_; }

  static long living() noexcept { return living_; }

  friend bool operator==(const counted& a, const counted& b) noexcept { return a.value() == b.value(); }
  friend auto operator<=>(const counted& a, const counted& b) noexcept { return a.value() <=> b.value(); }

 private:
  static constexpr std::uint32_t alive = 0x600dface, dead = 0xdeadbeef;

  const counted& check() const noexcept {
    if (life_ != alive) std::abort();
    return *this;
  }
  counted& check() noexcept {
    if (life_ != alive) std::abort();
    return *this;
  }

  static inline std::atomic<long> living_ = 0;

  int value_;
  std::uint32_t life_ = alive;
};

/// A `counted` that can be moved only.
class move_only : public counted {
 public:
  using counted::counted;
  move_only(move_only&&) noexcept = default;
  move_only& operator=(move_only&&) noexcept = default;
};

template <class Value>
std::vector<Value> made_of(const std::vector<int>& from) {
  std::vector<Value> all;
  all.reserve(from.size());
  for (const int x : from) all.emplace_back(x);
  return all;
}

/// Calls body() with the trap set to the first, the second, ... step until it gets through. Each time it must throw what the
/// trap threw and leave as many instances of `counted` as there were. `limit`: after so many the steps between are left out
/// more and more, lest long programs take quadratic time.
template <class Body>
void for_every_throw(Body body, long limit = 200) {
  const long before = counted::living();
  for (long k = 1;; k += 1 + k / limit) {
    bool thrown = false;
    trap::arm(k);
    try {
      body();
    } catch (const sprung&) {
      thrown = true;
    }
    trap::arm(0);
    CAPTURE(k);
    REQUIRE(counted::living() == before);
    if (!thrown) return;
  }
}

/// The same, inside each runtime.
template <class Body>
void for_every_throw_in_each_team(const char* what, Body body) {
  for_each_team(what, [&](fj::runtime& rt) { for_every_throw([&] { rt.run(body); }); });
}

/// A random-access iterator that is nothing more: no pointer, not contiguous, and `*it` is a proxy if the wrapped
/// iterator is.
template <std::random_access_iterator It>
class plain_iterator {
 public:
  using value_type = std::iter_value_t<It>;
  using difference_type = std::iter_difference_t<It>;
  using iterator_category = std::random_access_iterator_tag;
  using reference = std::iter_reference_t<It>;
  using pointer = void;

  plain_iterator() = default;
  explicit plain_iterator(It at) : at_(at) {}

  reference operator*() const { return *at_; }
  reference operator[](difference_type n) const { return at_[n]; }

  plain_iterator& operator++() { return ++at_, *this; }
  plain_iterator& operator--() { return --at_, *this; }
  plain_iterator operator++(int) { return plain_iterator(at_++); }
  plain_iterator operator--(int) { return plain_iterator(at_--); }
  plain_iterator& operator+=(difference_type n) { return at_ += n, *this; }
  plain_iterator& operator-=(difference_type n) { return at_ -= n, *this; }
  friend plain_iterator operator+(plain_iterator i, difference_type n) { return i += n; }
  friend plain_iterator operator+(difference_type n, plain_iterator i) { return i += n; }
  friend plain_iterator operator-(plain_iterator i, difference_type n) { return i -= n; }
  friend difference_type operator-(const plain_iterator& a, const plain_iterator& b) { return a.at_ - b.at_; }
  friend bool operator==(const plain_iterator&, const plain_iterator&) = default;
  friend auto operator<=>(const plain_iterator& a, const plain_iterator& b) { return a.at_ <=> b.at_; }

 private:
  It at_{};
};

static_assert(std::random_access_iterator<plain_iterator<int*>>);
static_assert(!std::contiguous_iterator<plain_iterator<int*>>);

}  // namespace test
