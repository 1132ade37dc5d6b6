// parallel_find_if, any_of, all_of and none_of against std, with predicates that throw at chosen elements. As in the
// serial search, the first match or exception decides.
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "forkjoin/find.hpp"
#include "test/property/values.hpp"

namespace {

using test::dice;

struct thrown_at {
  int id;
};

// The result of a search, or the place where it threw.
struct ending {
  std::ptrdiff_t found = -1;
  int threw_at = -1;
  bool operator==(const ending&) const = default;
};

template <class Search>
ending end_of(Search search) {
  try {
    return {static_cast<std::ptrdiff_t>(search())};
  } catch (const thrown_at& error) {
    return {-1, error.id};
  }
}

struct element {
  int key, id;
};

template <class Container>
void find_in(fj::runtime& rt, const std::vector<int>& keys, dice& random) {
  Container elements;
  for (const int key : keys) elements.push_back({key, static_cast<int>(elements.size())});
  const int wanted = static_cast<int>(random.below(30));
  const int poisoned = random.once_in(2) ? static_cast<int>(random.below(30)) : -1;  // these throw
  const auto key_of = [&](const element& one) {
    if (one.key == poisoned) throw thrown_at{one.id};
    return one.key;
  };
  const auto wants = [&](int key) { return key == wanted; };
  const auto wants_not = [&](int key) { return key != wanted; };
  const auto begin = elements.begin(), end = elements.end();
  const fj::loop_options options = test::random_grain(random);

  const auto inside = [&](auto search) { return end_of([&] { return rt.run(search); }); };
  const ending first = end_of([&] { return std::ranges::find_if(elements, wants, key_of) - begin; });
  CHECK(inside([&] { return fj::parallel_find_if(elements, wants, key_of, options) - begin; }) == first);
  CHECK(inside([&] { return fj::parallel_find_if(begin, end, wants, key_of, options) - begin; }) == first);
  CHECK(inside([&] { return fj::parallel_find(elements, wanted, key_of, options) - begin; }) == first);
  CHECK(inside([&] { return fj::parallel_find(begin, end, wanted, key_of, options) - begin; }) == first);
  CHECK(inside([&] { return fj::parallel_any_of(elements, wants, key_of, options); }) ==
        end_of([&] { return std::ranges::any_of(elements, wants, key_of); }));
  CHECK(inside([&] { return fj::parallel_none_of(elements, wants, key_of, options); }) ==
        end_of([&] { return std::ranges::none_of(elements, wants, key_of); }));
  CHECK(inside([&] { return fj::parallel_all_of(elements, wants_not, key_of, options); }) ==
        end_of([&] { return std::ranges::all_of(elements, wants_not, key_of); }));

  // Predicates that are noexcept take another way.
  const auto quiet = [&](const element& one) noexcept { return one.key == wanted; };
  CHECK(rt.run([&] { return fj::parallel_any_of(begin, end, quiet, {}, options); }) ==
        std::ranges::any_of(elements, quiet));
  const auto quiet_not = [&](const element& one) noexcept { return one.key != wanted; };
  CHECK(rt.run([&] { return fj::parallel_all_of(begin, end, quiet_not, {}, options); }) ==
        std::ranges::all_of(elements, quiet_not));
}

void find_one(fj::runtime& rt, dice& random) {
  std::vector<int> keys(test::random_keys(random).size());
  for (int& key : keys) key = static_cast<int>(random.below(random.once_in(2) ? 10000 : 40));
  random.once_in(2) ? find_in<std::vector<element>>(rt, keys, random) : find_in<std::deque<element>>(rt, keys, random);
}

}  // namespace

TEST_CASE("finds like std") {
  test::for_random_inputs("finds like std", 10000, [](fj::runtime& rt, dice& random) { find_one(rt, random); });
}
