// The common part of the property tests: runtimes, random inputs, and elements that count themselves and throw.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "forkjoin/loop_options.hpp"
#include "test/support.hpp"

namespace test {

/// Calls body(runtime, dice) for runtimes of 1, 2 and 8 P, with steals by need and with every fork stolen, for `inputs`
/// random inputs each. Its checks should stand outside of runtime.run, because doctest keeps its notes per thread.
template <class Body>
void for_random_inputs(const char* what, unsigned inputs, Body body) {
  for (const stealing how : {stealing::by_need, stealing::every_fork}) {
    for (const unsigned p : {1u, 2u, 8u}) {
      const watchdog dog(what, p, 240);
      CAPTURE(p);
      CAPTURE(name_of(how));
      fj::runtime rt(with(p, how));
      for (unsigned seed = 0; seed != divided(inputs); ++seed) {
        dice random(seed);
        CAPTURE(seed);
        body(rt, random);
      }
    }
  }
}

/// Sizes from 0, more often small, and keys of which there are few, or many.
inline std::vector<int> random_keys(dice& random) {
  static constexpr unsigned sizes[] = {2, 10, 40, 300};
  std::vector<int> keys(random.below(sizes[random.below(4)]));
  static constexpr unsigned ranges[] = {1, 3, 20, 1000};
  const unsigned range = ranges[random.below(4)];
  for (int& key : keys) key = static_cast<int>(random.below(range));
  if (random.once_in(4)) std::sort(keys.begin(), keys.end());
  if (random.once_in(4)) std::reverse(keys.begin(), keys.end());
  return keys;
}

inline fj::loop_options random_grain(dice& random) { return {.grain = random.once_in(4) ? 0 : 1 + random.below(30)}; }

/// Thrown by a fuse.
struct burnt {};

/// Throws at the k-th call of spend.
class fuse {
 public:
  void set(long k) { left_ = k; }
  void spend() {
    if (left_.fetch_sub(1, std::memory_order_relaxed) == 1) throw burnt();
  }

 private:
  std::atomic<long> left_ = 0;
};

enum class copies { forbidden, allowed };
enum class moves { quiet, may_throw };

/// An element that has no default, counts its instances, knows whether it was destroyed, and throws by the fuse.
template <copies Copies, moves Moves>
class counted {
 public:
  counted(int key, int id) noexcept : key_(key), id_(id) { ++living(); }

  counted(const counted& other)
    requires(Copies == copies::allowed)
      : key_(other.key_), id_(other.id_) {
    ops().spend();
    ++living();
  }
  counted(counted&& other) noexcept(Moves == moves::quiet) : key_(other.key_) {
    if constexpr (Moves == moves::may_throw) ops().spend();
    id_ = std::exchange(other.id_, gone);
    ++living();
  }
  counted& operator=(const counted& other)
    requires(Copies == copies::allowed)
  {
    ops().spend();
    check_alive();
    key_ = other.key_;
    id_ = other.id_;
    return *this;
  }
  counted& operator=(counted&& other) noexcept(Moves == moves::quiet) {
    if constexpr (Moves == moves::may_throw) ops().spend();
    check_alive();
    key_ = other.key_;
    id_ = std::exchange(other.id_, gone);
    return *this;
  }
  ~counted() {
    check_alive();
    alive_ = 0;
    --living();
  }

  int key() const {
    check_alive();
    return key_;
  }
  int id() const { return id_; }  ///< negative if it was moved elsewhere
  bool operator==(const counted& other) const { return key_ == other.key_ && id_ == other.id_; }

  static std::atomic<long>& living() {
    static std::atomic<long> count = 0;
    return count;
  }
  static std::atomic<long>& misused() {  ///< used or destroyed after its end
    static std::atomic<long> count = 0;
    return count;
  }
  static fuse& ops() {
    static fuse one;
    return one;
  }

  static constexpr int gone = -1;

 private:
  void check_alive() const {
    if (alive_ != magic) ++misused();
  }

  static constexpr unsigned magic = 0x5eedbed5;
  volatile unsigned alive_ = magic;  // volatile: or the compiler drops the last store
  int key_;
  int id_ = gone;
};

using copyable = counted<copies::allowed, moves::quiet>;
using move_only = counted<copies::forbidden, moves::quiet>;
using throwing = counted<copies::allowed, moves::may_throw>;

/// Elements with these keys, numbered, in a container.
template <class Container>
Container numbered(const std::vector<int>& keys) {
  using T = typename Container::value_type;
  T::ops().set(0);
  Container all;
  if constexpr (requires { all.reserve(keys.size()); }) all.reserve(keys.size());
  int id = 0;
  for (const int key : keys) all.emplace_back(key, id++);
  return all;
}

/// The numbers that are there, in ascending order, are 0 to n - 1.
template <class Range>
bool all_are_there(const Range& range) {
  std::vector<int> ids;
  for (const auto& one : range) ids.push_back(one.id());
  std::sort(ids.begin(), ids.end());
  for (std::size_t i = 0; i != ids.size(); ++i)
    if (ids[i] != static_cast<int>(i)) return false;
  return true;
}

/// Calls body(k) for k = 1, 2, ... until it returns true: "nothing was thrown".
template <class Body>
void for_every_call(Body body) {
  for (long k = 1; !body(k); ++k) REQUIRE(k < 100000);
}

}  // namespace test
