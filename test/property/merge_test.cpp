// parallel_merge against std, and with comparators and copies that throw at any call.
#include <charconv>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "forkjoin/merge.hpp"
#include "test/property/values.hpp"

namespace {

using test::dice;

std::vector<int> sorted_keys(dice& random) {
  std::vector<int> keys = test::random_keys(random);
  std::sort(keys.begin(), keys.end());
  return keys;
}

const auto key_of = [](const auto& element) { return element.key(); };

// Elements of the first sequence are numbered from 0, those of the second go on from there. So the test sees if the
// order is not kept.
template <template <class...> class Container, class T>
void merge_as(fj::runtime& rt, const std::vector<int>& keys1, const std::vector<int>& keys2, dice& random) {
  const auto first = test::numbered<Container<T>>(keys1);
  Container<T> second;
  for (const int key : keys2) second.emplace_back(key, static_cast<int>(keys1.size() + second.size()));
  const T blank(-1, -1);
  Container<T> expected(keys1.size() + keys2.size(), blank), merged = expected;
  std::merge(first.begin(), first.end(), second.begin(), second.end(), expected.begin(),
             [](const T& a, const T& b) { return a.key() < b.key(); });
  const fj::loop_options options = test::random_grain(random);
  const bool by_range = random.once_in(2);
  const bool all_written = rt.run([&] {
    if (by_range)
      return fj::parallel_merge(first, second, merged.begin(), std::ranges::less(), key_of, key_of, options) ==
             merged.end();
    return fj::parallel_merge(first.begin(), first.end(), second.begin(), second.end(), merged.begin(),
                              std::ranges::less(), key_of, key_of, options) == merged.end();
  });
  CHECK(all_written);
  CHECK(merged == expected);
}

void merge_one(fj::runtime& rt, dice& random) {
  const std::vector<int> first = sorted_keys(random), second = sorted_keys(random);
  switch (random.below(4)) {
    case 0: {  // backwards, from pointers, into a deque, of another type
      std::deque<long> merged(first.size() + second.size()), expected = merged;
      std::merge(first.rbegin(), first.rend(), second.rbegin(), second.rend(), expected.begin(), std::greater<>());
      rt.run([&] {
        fj::parallel_merge(std::make_reverse_iterator(first.data() + first.size()),
                           std::make_reverse_iterator(first.data()), second.rbegin(), second.rend(), merged.begin(),
                           std::greater<>(), {}, {}, test::random_grain(random));
      });
      CHECK(merged == expected);
      return;
    }
    case 1: {  // sequences of two types, projected to a common one
      std::vector<std::string> words;
      for (const int key : second) words.push_back(std::to_string(key));
      std::vector<int> merged(first.size() + second.size()), expected = merged;
      std::merge(first.begin(), first.end(), second.begin(), second.end(), expected.begin());
      // Not std::stoi, which writes errno: the strands of a thread share it, and ThreadSanitizer reports that.
      static constexpr auto number = [](const std::string& word) {
        int value = 0;
        std::from_chars(word.data(), word.data() + word.size(), value);
        return value;
      };
      struct number_or_word {
        int value = 0;
        number_or_word& operator=(int v) { return value = v, *this; }
        number_or_word& operator=(const std::string& v) { return value = number(v), *this; }
      };
      std::vector<number_or_word> output(merged.size());
      rt.run([&] {
        fj::parallel_merge(first, words, output.begin(), std::ranges::less(), std::identity(), number,
                           test::random_grain(random));
      });
      for (std::size_t i = 0; i != merged.size(); ++i) merged[i] = output[i].value;
      CHECK(merged == expected);
      return;
    }
    case 2:
      return merge_as<std::vector, test::copyable>(rt, first, second, random);
    default:
      return merge_as<std::deque, test::throwing>(rt, first, second, random);
  }
}

void throw_from(fj::runtime& rt, dice& random, bool from_copies) {
  using T = test::copyable;
  std::vector<int> keys1(10 + random.below(10)), keys2(10 + random.below(10));
  for (int& key : keys1) key = static_cast<int>(random.below(20));
  for (int& key : keys2) key = static_cast<int>(random.below(20));
  std::sort(keys1.begin(), keys1.end());
  std::sort(keys2.begin(), keys2.end());
  test::for_every_call([&](long k) {
    const auto first = test::numbered<std::vector<T>>(keys1), second = test::numbered<std::vector<T>>(keys2);
    std::vector<T> merged(first.size() + second.size(), T(-1, -1));
    test::fuse comparisons;
    (from_copies ? T::ops() : comparisons).set(k);
    bool threw = false;
    try {
      rt.run([&] {
        fj::parallel_merge(first, second, merged.begin(),
                           [&](int a, int b) {
                             comparisons.spend();
                             return a < b;
                           },
                           key_of, key_of, {.grain = 3});
      });
    } catch (const test::burnt&) {
      threw = true;
    }
    T::ops().set(0);
    CHECK(T::living() == static_cast<long>(2 * merged.size()));
    CHECK(T::misused() == 0);
    if (!threw) CHECK(std::is_sorted(merged.begin(), merged.end(), [](auto& a, auto& b) { return a.key() < b.key(); }));
    return !threw;
  });
  CHECK(T::living() == 0);
}

}  // namespace

TEST_CASE("merges like std") {
  test::for_random_inputs("merges like std", 10000, [](fj::runtime& rt, dice& random) { merge_one(rt, random); });
  CHECK(test::copyable::living() == 0);
  CHECK(test::throwing::living() == 0);
}

TEST_CASE("what throws in a merge ends it and leaks nothing") {
  test::for_random_inputs("throwing merges", 10, [](fj::runtime& rt, dice& random) {
    throw_from(rt, random, false);
    throw_from(rt, random, true);
  });
}
