// parallel_sort and parallel_stable_sort against std, and with comparators and moves that throw at any call.
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "forkjoin/sort.hpp"
#include "forkjoin/stable_sort.hpp"
#include "test/property/values.hpp"

namespace {

using test::dice;

struct unstable {
  template <class... Args>
  static void sort(fj::runtime& rt, Args&&... args) {
    rt.run([&] { fj::parallel_sort(std::forward<Args>(args)...); });
  }
};

struct stable {
  static constexpr bool keeps_order = true;
  template <class... Args>
  static void sort(fj::runtime& rt, Args&&... args) {
    rt.run([&] { fj::parallel_stable_sort(std::forward<Args>(args)...); });
  }
};

template <class How>
constexpr bool is_stable = requires { How::keeps_order; };

// Compares by key, up or down, and may throw at some call. It is one type, because each further type is a whole sort to
// compile.
struct by_key {
  bool descending = false;
  test::fuse* comparisons = nullptr;
  bool operator()(int a, int b) const {
    if (comparisons) comparisons->spend();
    return descending ? b < a : a < b;
  }
};

struct plain_element {
  int key_, id_;
  int key() const { return key_; }
  int id() const { return id_; }
};

const auto key_of = [](const auto& element) { return element.key(); };

template <class How, class Range>
void check_sorted(const Range& range, const std::vector<int>& keys, bool descending) {
  std::vector<plain_element> expected;
  for (const int key : keys) expected.push_back({key, static_cast<int>(expected.size())});
  std::sort(expected.begin(), expected.end(), [&](const plain_element& a, const plain_element& b) {
    return a.key_ != b.key_ ? (a.key_ < b.key_) != descending : a.id_ < b.id_;
  });
  bool same = range.size() == expected.size();
  for (std::size_t i = 0; same && i != expected.size(); ++i)
    same = range[i].key() == expected[i].key_ && (!is_stable<How> || range[i].id() == expected[i].id_);
  CHECK(same);
  CHECK(test::all_are_there(range));
}

template <class How, class Container>
void sort_by_key(fj::runtime& rt, const std::vector<int>& keys, dice& random) {
  auto elements = test::numbered<Container>(keys);
  const bool descending = random.below(2) == 0;
  if (descending) {
    How::sort(rt, elements.begin(), elements.end(), by_key{.descending = true}, key_of, test::random_grain(random));
  } else {
    How::sort(rt, elements, by_key(), key_of, test::random_grain(random));
  }
  check_sorted<How>(elements, keys, descending);
}

template <class How, class Container>
void sort_by_comparator(fj::runtime& rt, const std::vector<int>& keys, dice& random) {
  auto elements = test::numbered<Container>(keys);
  const auto less = [](const auto& a, const auto& b) { return a.key() < b.key(); };
  How::sort(rt, elements, less, std::identity(), test::random_grain(random));
  check_sorted<How>(elements, keys, false);
}

template <class How, class Container>
void sort_from_behind(fj::runtime& rt, const std::vector<int>& keys, dice& random) {
  auto elements = test::numbered<Container>(keys);
  How::sort(rt, elements.rbegin(), elements.rend(), by_key(), key_of, test::random_grain(random));
  std::vector<int> reversed_keys(keys.rbegin(), keys.rend());
  std::vector<plain_element> seen;
  for (auto one = elements.rbegin(); one != elements.rend(); ++one)
    seen.push_back({one->key(), static_cast<int>(keys.size()) - 1 - one->id()});
  check_sorted<How>(seen, reversed_keys, false);
}

template <class How>
void sort_one(fj::runtime& rt, dice& random) {
  const std::vector<int> keys = test::random_keys(random);
  switch (random.below(10)) {
    case 0: {
      std::vector<int> values = keys, expected = keys;
      How::sort(rt, values.data(), values.data() + values.size(), std::greater<>(), std::identity(),
                test::random_grain(random));
      std::sort(expected.begin(), expected.end(), std::greater<>());
      CHECK(values == expected);
      return;
    }
    case 1: {
      std::vector<std::string> values, expected;
      for (const int key : keys) values.push_back(std::to_string(key) + " is too long for the small buffer");
      expected = values;
      How::sort(rt, values, std::ranges::less(), std::identity(), test::random_grain(random));
      std::sort(expected.begin(), expected.end());
      CHECK(values == expected);
      return;
    }
    case 2: {
      std::vector<plain_element> values;
      for (const int key : keys) values.push_back({key, static_cast<int>(values.size())});
      How::sort(rt, values, std::ranges::less(), &plain_element::key_, test::random_grain(random));
      return check_sorted<How>(values, keys, false);
    }
    case 3:
      return sort_by_key<How, std::vector<test::copyable>>(rt, keys, random);
    case 4:
      return sort_by_key<How, std::vector<test::move_only>>(rt, keys, random);
    case 5:
      return sort_by_key<How, std::deque<test::move_only>>(rt, keys, random);
    case 6:
      return sort_by_key<How, std::deque<test::throwing>>(rt, keys, random);
    case 7:
      return sort_by_comparator<How, std::vector<test::copyable>>(rt, keys, random);
    case 8:
      return sort_from_behind<How, std::vector<test::move_only>>(rt, keys, random);
    default:
      return sort_from_behind<How, std::deque<test::throwing>>(rt, keys, random);
  }
}

template <class T>
void check_balance(long living) {
  CHECK(T::living() == living);
  CHECK(T::misused() == 0);
}

// A comparator that throws at every call in turn: nothing is lost.
template <class How, class T>
void throw_from_comparator(fj::runtime& rt, dice& random) {
  std::vector<int> keys(30 + random.below(30));
  for (int& key : keys) key = static_cast<int>(random.below(40));
  test::for_every_call([&](long k) {
    auto elements = test::numbered<std::vector<T>>(keys);
    test::fuse comparisons;
    comparisons.set(k);
    bool threw = false;
    try {
      How::sort(rt, elements, by_key{.comparisons = &comparisons}, key_of, fj::loop_options{.grain = 3});
    } catch (const test::burnt&) {
      threw = true;
    }
    check_balance<T>(static_cast<long>(keys.size()));
    CHECK(test::all_are_there(elements));
    if (!threw) check_sorted<How>(elements, keys, false);
    return !threw;
  });
  check_balance<T>(0);
}

// Moves that throw: elements may be lost, but all others are valid and destroyed once.
template <class How>
void throw_from_moves(fj::runtime& rt, dice& random) {
  using T = test::throwing;
  std::vector<int> keys(20 + random.below(30));
  for (int& key : keys) key = static_cast<int>(random.below(40));
  test::for_every_call([&](long k) {
    auto elements = test::numbered<std::vector<T>>(keys);
    T::ops().set(k);
    bool threw = false;
    try {
      How::sort(rt, elements, by_key(), key_of, fj::loop_options{.grain = 3});
    } catch (const test::burnt&) {
      threw = true;
    }
    T::ops().set(0);
    check_balance<T>(static_cast<long>(keys.size()));
    for (const T& one : elements) CHECK(one.key() >= 0);
    if (!threw) check_sorted<How>(elements, keys, false);
    return !threw;
  });
  check_balance<T>(0);
}

}  // namespace

TEST_CASE_TEMPLATE("sorts like std", How, unstable, stable) {
  test::for_random_inputs("sorts like std", 10000, [](fj::runtime& rt, dice& random) { sort_one<How>(rt, random); });
  check_balance<test::copyable>(0);
  check_balance<test::move_only>(0);
  check_balance<test::throwing>(0);
}

TEST_CASE_TEMPLATE("a throwing comparator loses nothing", How, unstable, stable) {
  test::for_random_inputs("a throwing comparator loses nothing", 10, [](fj::runtime& rt, dice& random) {
    throw_from_comparator<How, test::copyable>(rt, random);
    throw_from_comparator<How, test::move_only>(rt, random);
    throw_from_comparator<How, test::throwing>(rt, random);
  });
}

TEST_CASE_TEMPLATE("throwing moves leave valid elements", How, unstable, stable) {
  test::for_random_inputs("throwing moves leave valid elements", 10,
                          [](fj::runtime& rt, dice& random) { throw_from_moves<How>(rt, random); });
}
