// The types that loops and algorithms take and refuse: types with operator< alone, iterators with their own comma
// operator, sequences whose end comes before their beginning, names of functions. And requires-expressions tell the
// truth.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "forkjoin/go.hpp"
#include "test/property/iterators.hpp"
#include "test/support.hpp"

namespace {

struct nothing {};  // without operators

/// Has what std::sort requires, and no more.
struct less_alone {
  int key = 0;
  friend bool operator<(const less_alone& a, const less_alone& b) { return a.key < b.key; }
};

/// Can be copied, and not assigned.
struct fixed_key {
  const int key = 0;
};

/// Takes what stays where it is.
struct copied_to {
  copied_to& operator=(const int&) { return *this; }
  copied_to& operator=(int&&) = delete;
};

struct [[nodiscard]] status {};

/// A trivial copy, and nothing else, is what it should be.
struct greedy {
  greedy(int* to) : calls(to) {}
  template <class T>
    requires(!std::is_pointer_v<T>)
  greedy(T&&) : calls(nullptr) {}
  int operator()(int) const { return calls ? ++*calls : -1; }
  int* calls;
};

using ints = std::vector<int>;
[[maybe_unused]] constexpr auto act = [](auto&&) {};
[[maybe_unused]] constexpr auto is_odd = [](int x) { return x % 2 != 0; };

#define COMPILES(name, ...)         \
  template <class A, class B = int> \
  constexpr bool name = requires(A& a, B& b) { __VA_ARGS__; };
COMPILES(loops, fj::parallel_for(a, act), fj::parallel_for(a.begin(), a.end(), act),
         fj::parallel_for(a, act, {.grain = 4}), fj::fork_each(a, act), fj::fork_each(a.begin(), a.end(), act))
COMPILES(loops_by, fj::parallel_for(a, b))
COMPILES(iterator_loops_by, fj::parallel_for(a.begin(), a.end(), b))
COMPILES(each_by, fj::fork_each(a, b))
COMPILES(index_loops_by, fj::parallel_for(a, a, b))
COMPILES(index_each_by, fj::fork_each(a, a, b))
COMPILES(steps_by, fj::parallel_for(0, 9, a, b))
COMPILES(iterator_steps, fj::parallel_for(a.begin(), a.end(), 2, b))
COMPILES(blocks_by, fj::parallel_for_blocks(a, b))
COMPILES(iterator_blocks_by, fj::parallel_for_blocks(a.begin(), a.end(), b))
COMPILES(stable_partitions, fj::parallel_stable_partition(a, b))
COMPILES(joins, fj::parallel_reduce(a, b, [](B x, int) { return x; }, std::plus<>()))
COMPILES(range_transform_reduces, fj::parallel_transform_reduce(a, b, std::plus<>(), std::negate<>()))
COMPILES(loops_2d_by, fj::parallel_for_2d(3, 3, b))
COMPILES(sorts, fj::parallel_sort(a))
COMPILES(iterator_sorts, fj::parallel_sort(a.begin(), a.end(), {.grain = 4}))
COMPILES(sorts_by, fj::parallel_sort(a, b))
COMPILES(sorts_named, fj::parallel_sort(a, b, fj::loop_options()))
COMPILES(stable_sorts, fj::parallel_stable_sort(a))
COMPILES(stable_sorts_by, fj::parallel_stable_sort(a.begin(), a.end(), b, {.grain = 4}))
COMPILES(merges, fj::parallel_merge(a, a, b))
COMPILES(iterator_merges, fj::parallel_merge(a.begin(), a.end(), a.begin(), a.end(), b, {.grain = 4}))
COMPILES(finds, fj::parallel_find(a, b))
COMPILES(finds_if, fj::parallel_find_if(a, b))
COMPILES(any, fj::parallel_any_of(a, b))
COMPILES(all, fj::parallel_all_of(a.begin(), a.end(), b))
COMPILES(none, fj::parallel_none_of(a, b, {.grain = 4}))
COMPILES(partitions, fj::parallel_partition(a, b))
COMPILES(copies, fj::parallel_copy_if(a, b, is_odd))
COMPILES(transforms, fj::parallel_transform(a, b, is_odd))
COMPILES(iterator_transforms, fj::parallel_transform(a.begin(), a.end(), a.begin(), b, std::plus<>()))
COMPILES(reduces, fj::parallel_reduce(a, b, std::plus<>()))
COMPILES(iterator_reduces, fj::parallel_reduce(a.begin(), a.end(), b, std::plus<>(), {.grain = 4}))
COMPILES(transform_reduces,
         fj::parallel_transform_reduce(a.begin(), a.end(), a.begin(), b, std::plus<>(), std::plus<>()))
COMPILES(one_transform_reduces, fj::parallel_transform_reduce(a, 0, std::plus<>(), b))
COMPILES(iterator_one_transform_reduces, fj::parallel_transform_reduce(a.begin(), a.end(), 0, std::plus<>(), b))
COMPILES(pointer_transform_reduces, fj::parallel_transform_reduce(a, a + 4, 0, std::plus<>(), b))
COMPILES(iterator_joins, fj::parallel_reduce(a.begin(), a.end(), b, [](B x, int) { return x; }, std::plus<>()))
COMPILES(adds_up, fj::parallel_reduce(a, b, [](B x, B) { return x; }, [](int) { return B(); }))
COMPILES(joins_up, fj::parallel_reduce(a, b, [](B x, int) { return x; }, [](B x, B) { return x; }))
COMPILES(combines, a.combine([](const B& x, const B&) { return x; }))
COMPILES(fork_reduces, fj::fork_reduce(a, 0, [](int x, auto&&) { return x; }, b))
COMPILES(scans, fj::parallel_scan(a, b))
COMPILES(iterator_scans, fj::parallel_inclusive_scan(a.begin(), a.end(), b, std::plus<>(), 1))
COMPILES(exclusive_scans, fj::parallel_exclusive_scan(a, b, 0))
#undef COMPILES

using list = std::list<int>;
using bits = std::vector<bool>;
using nothings = std::vector<nothing>;
using unary = decltype(is_odd);
using binary = std::less<>;
using act_type = decltype([](auto, auto) {});
using of_strings = bool (*)(const std::string&);

// Tried with static_assert in the functions: then all of these hold for any type of that shape.
static_assert(loops<ints> && !loops<list> && !loops<bits> && loops<const bits>);
static_assert(loops_by<ints, unary> && !loops_by<ints, binary> && !loops_by<ints, of_strings>);
static_assert(iterator_loops_by<ints, unary> && !iterator_loops_by<ints, binary> && !iterator_loops_by<list, unary>);
static_assert(each_by<ints, unary> && !each_by<ints, of_strings>);
static_assert(index_loops_by<int, unary> && !index_loops_by<int, of_strings> && !index_loops_by<char, unary>);
static_assert(index_each_by<int, unary> && !index_each_by<int, of_strings> && !index_each_by<char, unary>);
static_assert(steps_by<int, unary> && steps_by<unsigned char, unary> && !steps_by<int, of_strings>);
static_assert(!steps_by<double, unary> && !steps_by<char, unary> && !steps_by<unary, int>);
static_assert(!iterator_steps<ints, unary>);
static_assert(blocks_by<ints, act_type> && !blocks_by<ints, unary> && !blocks_by<list, act_type>);
static_assert(!blocks_by<bits, act_type> && blocks_by<const bits, act_type>);
static_assert(iterator_blocks_by<ints, act_type> && !iterator_blocks_by<ints, unary>);
static_assert(stable_partitions<ints, unary> && !stable_partitions<const ints, unary>);
static_assert(!stable_partitions<bits, unary> && !stable_partitions<ints, binary>);
static_assert(joins<ints, long> && !joins<ints, nothing> && !joins<list, long> && !joins<ints, void*>);
static_assert(range_transform_reduces<ints, int> && !range_transform_reduces<list, int>);
static_assert(!range_transform_reduces<nothings, int> && !range_transform_reduces<ints, nothing>);
static_assert(one_transform_reduces<ints, unary> && !one_transform_reduces<ints, std::multiplies<>>);
static_assert(iterator_one_transform_reduces<ints, unary> && !iterator_one_transform_reduces<ints, std::multiplies<>>);
static_assert(pointer_transform_reduces<int*, unary> && !pointer_transform_reduces<int*, std::multiplies<>>);
static_assert(iterator_joins<ints, long> && !iterator_joins<ints, nothing> && !iterator_joins<list, long>);
static_assert(loops_2d_by<int, binary> && !loops_2d_by<int, unary>);
static_assert(sorts<ints> && !sorts<list> && !sorts<bits> && !sorts<const ints> && !sorts<nothings>);
static_assert(iterator_sorts<ints> && !iterator_sorts<list> && !iterator_sorts<nothings>);
static_assert(sorts_by<ints, binary> && !sorts_by<ints, unary> && sorts_named<ints, binary> &&
              !sorts_named<list, binary>);
static_assert(stable_sorts<ints> && !stable_sorts<list> && !stable_sorts<bits> && !stable_sorts<nothings>);
static_assert(stable_sorts_by<ints, binary> && !stable_sorts_by<ints, unary>);
static_assert(merges<ints, int*> && !merges<list, int*> && !merges<ints, nothing*> && !merges<nothings, nothing*>);
static_assert(!merges<ints, std::back_insert_iterator<ints>> && !merges<bits, bits::iterator>);
static_assert(iterator_merges<ints, int*> && !iterator_merges<ints, nothing*> && !iterator_merges<nothings, nothing*>);
static_assert(finds<ints, int> && !finds<ints, std::string> && !finds<list, int> && !finds<nothings, nothing>);
static_assert(finds_if<ints, unary> && !finds_if<ints, binary> && !finds_if<list, unary>);
static_assert(any<ints, unary> && !any<ints, binary> && all<ints, unary> && !all<list, unary>);
static_assert(none<ints, unary> && !none<ints, binary>);
static_assert(partitions<ints, unary> && !partitions<const ints, unary> && !partitions<bits, unary>);
static_assert(copies<ints, int*> && !copies<ints, nothing*> && !copies<ints, bits::iterator> && !copies<list, int*>);
static_assert(transforms<ints, int*> && !transforms<list, int*> && !transforms<ints, nothing*>);
static_assert(iterator_transforms<ints, int*> && !iterator_transforms<ints, bits::iterator>);
static_assert(reduces<ints, int> && !reduces<ints, nothing> && !reduces<list, int>);
static_assert(iterator_reduces<ints, int> && !iterator_reduces<ints, std::string>);
static_assert(transform_reduces<ints, int> && !transform_reduces<nothings, int> && !transform_reduces<list, int>);
static_assert(scans<ints, int*> && !scans<ints, nothing*> && !scans<list, int*> && !scans<ints, bits::iterator>);
static_assert(iterator_scans<ints, int*> && !iterator_scans<list, int*>);
static_assert(exclusive_scans<ints, int*> && !exclusive_scans<nothings, nothing*>);
static_assert(!exclusive_scans<ints, copied_to*>);
static_assert(adds_up<ints, less_alone> && !adds_up<ints, fixed_key>);
static_assert(joins_up<ints, less_alone> && !joins_up<ints, fixed_key>);
static_assert(combines<fj::combinable<less_alone>, less_alone> && !combines<fj::combinable<fixed_key>, fixed_key>);
static_assert(!scans<std::vector<fixed_key>, fixed_key*>);
using pointer = std::unique_ptr<int>;
using pointers_body = decltype([](pointer& p) -> pointer& { return p; });
using pointers_taken = decltype([](pointer& p) { return std::move(p); });
static_assert(fork_reduces<std::vector<pointer>, pointers_taken> && !fork_reduces<std::vector<pointer>, pointers_body>);

}  // namespace

// Tried with std::ranges::less for a default: does not compile.
TEST_CASE("elements that have operator< alone are sorted and merged") {
  std::vector<less_alone> v{{3}, {1}, {2}}, out(6);
  const auto is_sorted = [](const auto& all) { return std::is_sorted(all.begin(), all.end()); };
  fj::parallel_sort(v);
  CHECK(is_sorted(v));
  std::ranges::reverse(v);
  fj::parallel_sort(v.begin(), v.end(), {.grain = 1});
  CHECK(is_sorted(v));
  std::ranges::reverse(v);
  fj::parallel_stable_sort(v);
  CHECK(is_sorted(v));
  CHECK(fj::parallel_merge(v, v, out.begin()) == out.end());
  CHECK(is_sorted(out));
  CHECK(fj::parallel_merge(v.begin(), v.end(), v.begin(), v.end(), out.begin(), {.grain = 1}) == out.end());
}

// Tried with the casts to void left out, each: does not compile.
TEST_CASE("iterators may have their own comma operator") {
  std::vector<double> v(5000), out(10000);
  test::dice random(1);
  for (double& x : v) x = random.below(1000);
  const auto first = test::plain_begin(v), last = test::plain_end(v);
  const auto to = test::plain_begin(out);
  const auto low = [](double x) { return x < 500; };
  const auto count = std::count_if(v.begin(), v.end(), low);
  fj::runtime rt({.procs = 2, .steal_every_fork = true});
  rt.run([&] {
    fj::parallel_for(first, last, [](double& x) { x += 1; });
    fj::parallel_for(first, last, [](double& x) { x -= 1; }, {.grain = 64});
    fj::fork_each(first, last, [](double&) {}, {.grain = 64});
    fj::parallel_transform(first, last, first, to, std::plus<>());
    CHECK(fj::parallel_reduce(first, last, 0.0, std::plus<>()) ==
          fj::parallel_transform_reduce(first, last, first, 0.0, std::plus<>(), std::ranges::min));
    fj::parallel_scan(first, last, to, {.grain = 64});
    fj::parallel_exclusive_scan(first, last, to, 1.0, std::plus<>(), {.grain = 64});
    CHECK(fj::parallel_copy_if(first, last, to, low) - to == count);
    CHECK(fj::parallel_find(first, last, -1.0) == last);
    CHECK(fj::parallel_any_of(first, last, low));
    CHECK(fj::parallel_partition(first, last, low, {.grain = 64}) - first == count);
    fj::parallel_sort(first, last, {.grain = 64});
    fj::parallel_stable_sort(first, last, std::greater<>(), {.grain = 64});
    fj::parallel_sort(first, last);
    CHECK(fj::parallel_merge(first, last, first, last, to) == test::plain_end(out));
  });
  CHECK(std::is_sorted(out.begin(), out.end()));
}

// Tried with a negative difference taken as a size: a loop runs beyond the end of memory.
TEST_CASE("a sequence that ends before it begins is empty") {
  ints v{3, 1, 2}, out(6, -1);
  const ints before = v, empty_out = out;
  const auto first = v.end(), last = v.begin();  // reversed
  const auto to = out.begin();
  int iterations = 0;
  const auto iteration = [&](int) { return ++iterations > 0; };
  const auto iteration_of_two = [&](int a, int b) { return ++iterations, a < b; };
  for (const std::size_t grain : {0u, 1u}) {
    const fj::loop_options options{.grain = grain};
    fj::parallel_for(first, last, iteration, options);
    fj::parallel_for(3, 1, iteration, options);
    fj::fork_each(first, last, iteration, options);
    fj::fork_each(3, 1, iteration, options);
    fj::parallel_for(3, 1, 2, iteration, options);
    fj::parallel_for_blocks(first, last, [&](auto, auto) { ++iterations; }, options);
    fj::parallel_for_blocks(3, 1, iteration_of_two, options);
    CHECK(fj::parallel_reduce(first, last, 7, iteration_of_two, iteration_of_two, options) == 7);
    CHECK(fj::parallel_stable_partition(first, last, iteration, options) == first);
    CHECK(fj::parallel_transform(first, last, to, iteration, options) == to);
    CHECK(fj::parallel_transform(first, last, first, to, iteration_of_two, options) == to);
    CHECK(fj::parallel_reduce(first, last, 7, iteration_of_two, options) == 7);
    CHECK(fj::parallel_transform_reduce(first, last, 7, iteration_of_two, iteration, options) == 7);
    CHECK(fj::parallel_transform_reduce(first, last, first, 7, iteration_of_two, iteration_of_two, options) == 7);
    CHECK(fj::parallel_scan(first, last, to, iteration_of_two, options) == to);
    CHECK(fj::parallel_inclusive_scan(first, last, to, iteration_of_two, 7, options) == to);
    CHECK(fj::parallel_exclusive_scan(first, last, to, 7, iteration_of_two, options) == to);
    CHECK(fj::parallel_find(first, last, 1, options) == first);
    CHECK(fj::parallel_find_if(first, last, iteration, options) == first);
    CHECK(!fj::parallel_any_of(first, last, iteration, options));
    CHECK(fj::parallel_all_of(first, last, iteration, options));
    CHECK(fj::parallel_none_of(first, last, iteration, options));
    CHECK(fj::parallel_partition(first, last, iteration, options) == first);
    CHECK(fj::parallel_copy_if(first, last, to, iteration, options) == to);
    CHECK(fj::parallel_merge(first, last, first, last, to, iteration_of_two, options) == to);
    CHECK(fj::parallel_merge(first, last, v.begin(), v.begin() + 1, to, options) == to + 1);
    *to = -1;
    fj::parallel_sort(first, last, iteration_of_two, options);
    fj::parallel_stable_sort(first, last, iteration_of_two, options);
  }
  CHECK(iterations == 0);
  CHECK(v == before);
  CHECK(out == empty_out);
}

// Tried with the deleted overloads for ranges open to pointers: ambiguous.
TEST_CASE("an array and its end are two iterators") {
  int array[4] = {3, 1, 2, 5}, out[8];
  int* const end = array + 4;
  fj::parallel_for(array, end, act);
  CHECK(fj::parallel_scan(array, end, out)[-1] == 11);
  CHECK(fj::parallel_scan(array, end, out, std::plus<>(), 1)[-1] == 12);
  CHECK(fj::parallel_exclusive_scan(array, end, out, 0)[-1] == 6);
  CHECK(fj::parallel_transform(array, end, out, std::negate<>()) == out + 4);
  CHECK(fj::parallel_copy_if(array, end, out, is_odd) == out + 3);
  CHECK(fj::parallel_reduce(array, end, 0, std::plus<>()) == 11);
  CHECK(fj::parallel_find(array, end, 1) == array + 1);
  CHECK(fj::parallel_find_if(array, end, is_odd) == array);
  CHECK(fj::parallel_any_of(array, end, is_odd));
  CHECK(fj::parallel_partition(array, end, is_odd) == array + 3);
  fj::parallel_stable_sort(array, end, std::greater<>());
  fj::parallel_sort(array, end);
  CHECK(std::is_sorted(array, end));
  CHECK(fj::parallel_merge(array, end, array, end, out) == out + 8);
}

// Tried with the deleted overload for two iterators open to two arrays: ambiguous.
TEST_CASE("two arrays of one type have an inner product") {
  const double a[4] = {3, 1, 2, 5};
  double b[4] = {1, 2, 3, 4};
  const std::plus<> plus;
  const std::multiplies<> multiplies;
  CHECK(fj::parallel_transform_reduce(b, b, 0.0, plus, multiplies) == 30);
  CHECK(fj::parallel_transform_reduce(a, b, 0.0, plus, multiplies) == 31);
  CHECK(fj::parallel_transform_reduce(a, b, 0.0, plus, multiplies, {.grain = 1}) == 31);
  CHECK(fj::parallel_transform_reduce(std::span(a), std::begin(b), 0.0, plus, multiplies) == 31);
  const float floats[] = {1, 2, 3, 4};
  std::string strings[] = {"a", "b"};
  fj::parallel_exclusive_scan(strings, strings, std::string("x"), std::plus<>());  // the initial value is no output
  CHECK(strings[1] == "xa");
  CHECK(fj::parallel_transform_reduce(a, std::begin(floats), 0.0, plus, multiplies) == 31);
  CHECK(fj::parallel_transform_reduce(a, a + 4, b, 0.0, plus, multiplies) == 31);
  CHECK(fj::parallel_transform_reduce(b, b + 4, 0.0, plus, std::negate<>()) == -10);
}

// Tried with each argument passed as it was before it was needed so: does not compile.
TEST_CASE("operations may take rvalues") {
  const auto add = [](double&& a, double&& b) { return a + b; };
  const auto add_ints = [](int a, int&& b) { return a + b; };
  const auto own = [](auto x) { return x; };
  const auto append = [](std::string&& a, const std::string& b) { return std::move(a) + b; };
  const std::vector<double> ones(1000, 1);
  const std::vector<std::string> words{"a", "b", "c"};
  std::vector<std::string> out(3);
  fj::runtime rt({.procs = 2});
  rt.run([&] {
    for (const std::size_t n : {std::size_t{3}, std::size_t{100}, std::size_t{1000}}) {
      CHECK(fj::parallel_reduce(ones.begin(), ones.begin() + static_cast<std::ptrdiff_t>(n), 0.0, add, own) == n);
      CHECK(fj::parallel_reduce(ints(n, 1), 0, add_ints, own) == static_cast<int>(n));
    }
    CHECK(fj::parallel_reduce(ints(100'000, 1), 0, add_ints, own) == 100'000);
    fj::parallel_exclusive_scan(words, out.begin(), std::string("-"), append);
  });
  CHECK(out == std::vector<std::string>{"-", "-a", "-ab"});
}

// Tried with copies of what is not const: a body counts nowhere, a projection gives -1.
TEST_CASE("bodies with a greedy constructor are called in place") {
  static_assert(std::is_trivially_copyable_v<greedy>);
  int calls = 0;
  greedy body(&calls);
  fj::runtime rt({.procs = 1});
  rt.run([&] { fj::parallel_for(0, 9, body); });
  CHECK(calls == 9);
  CHECK(rt.run([&] { return fj::parallel_reduce(ints(3), 0, std::plus<>(), greedy(&calls)); }) == 10 + 11 + 12);
}

// Tried without the casts to void, each: does not compile.
TEST_CASE("bodies may return what should not be discarded") {
  int calls = 0;
  const auto body = [&calls](auto&&...) { return ++calls, status(); };
  ints v(9);
  fj::runtime rt({.procs = 1});
  rt.run([&] {
    fj::parallel_for(0, 9, body);
    fj::parallel_for(0, 9, 9, body);
    fj::parallel_for(v, body);
    fj::parallel_for_blocks(0, 9, body, {.grain = 9});
    fj::parallel_for_blocks(v, body, {.grain = 9});
    fj::parallel_for_2d(3, 3, [&body](std::size_t, std::size_t) { return body(); });
    fj::parallel_for_2d(3, 3, [&body](const fj::block_2d&) { return body(); }, {.grain = 9});
    fj::parallel_for_2d(1, 3, 1, 3, [&body](int, int, int, int) { return body(); }, {.grain = 9});
    fj::fork_each(v, body);
    fj::fork_each(v, body, {.grain = 9});
    fj::parallel_invoke(body, body);
    fj::with_scope([&](fj::scope& s) { s.fork(body); });
    fj::combinable<int> ones([] { return 1; });
    ones.with_local([](int&) {});
    ones.for_each(body);
    std::as_const(ones).for_each(body);
    fj::once first;
    first.call(body);
    fj::channel<int> full(1);
    fj::select(fj::on_send(full, 1, body));
    fj::select(fj::on_receive(full, body));
    fj::select(fj::on_receive(full, body), fj::otherwise(body));
    fj::select(fj::on_receive(full, body), fj::after(std::chrono::nanoseconds(1), body));
  });
  CHECK(calls == 9 + 1 + 9 + 1 + 1 + 9 + 1 + 1 + 9 + 9 + 2 + 1 + 1 + 1 + 1 + 4);
}

namespace functions {

int one() { return 1; }
void idle() {}
void take(int) {}
void take_block(std::size_t, std::size_t) {}
void take_part(fj::scope& s) { s.fork(idle); }
void take_task_part(fj::basic_scope<fj::tasks>& s) { s.fork(idle); }
int twice(int x) { return 2 * x; }
bool odd(int x) { return x % 2 != 0; }
bool greater(int a, int b) { return a > b; }
int add(int a, int b) { return a + b; }

template <class Policy>
void fork() {
  CHECK(fj::fork_join<Policy>(one, one) == std::tuple(1, 1));
  fj::fork_join<Policy>(idle, idle);
  CHECK(fj::fork_join<Policy>(one, one, one) == std::tuple(1, 1, 1));
  fj::parallel_for(0, 9, take);
  fj::parallel_for(0, 9, 2, take);
  fj::parallel_for(ints(9), take);
  fj::basic_scope<Policy> s;
  s.fork(idle);
  s.join();
}

}  // namespace functions

// Tried with a size asked for of every closure, functions, too: the fork of two functions does not compile.
TEST_CASE("the name of a function will do wherever a closure will") {
  using namespace functions;
  fj::runtime rt({.procs = 2});
  CHECK(rt.run(one) == 1);
  CHECK(fj::run(one) == 1);
  CHECK(rt.go(one).get() == 1);
  CHECK(rt.run([] { return fj::go(one).get() + fj::blocking(one); }) == 2);
  rt.run(fork<fj::continuations>);
  rt.run(fork<fj::tasks>);
  fj::with_scope(take_part);
  fj::with_scope<fj::tasks>(take_task_part);
  fj::parallel_invoke(idle, idle, idle);
  fj::fork_each(0, 9, take);
  CHECK(fj::fork_reduce(0, 9, 0, add, twice) == 72);
  fj::parallel_for_blocks(0, 9, take_block);
  fj::parallel_for_2d(3, 3, take_block);
  ints v{3, 1, 2, 5}, out(8);
  CHECK(fj::parallel_reduce(v, 0, add) == 11);
  CHECK(fj::parallel_transform_reduce(v, 0, add, twice) == 22);
  CHECK(fj::parallel_transform(v, out.begin(), twice)[-1] == 10);
  CHECK(fj::parallel_scan(v, out.begin(), add)[-1] == 11);
  CHECK(fj::parallel_inclusive_scan(v, out.begin(), add)[-1] == 11);
  CHECK(fj::parallel_exclusive_scan(v, out.begin(), 0, add)[-1] == 6);
  fj::combinable<int> ones(one);
  CHECK(ones.with_local(twice) == 2);
  CHECK(fj::parallel_find_if(v, odd) == v.begin());
  CHECK(fj::parallel_any_of(v, odd));
  CHECK(!fj::parallel_all_of(v, odd));
  CHECK(!fj::parallel_none_of(v, odd));
  CHECK(fj::parallel_copy_if(v, out.begin(), odd) == out.begin() + 3);
  CHECK(fj::parallel_stable_partition(v, odd) == v.begin() + 3);
  CHECK(fj::parallel_partition(v, odd) == v.begin() + 3);
  fj::parallel_stable_sort(v, greater);
  CHECK(v == ints{5, 3, 2, 1});
  fj::parallel_sort(v, greater);
  CHECK(fj::parallel_merge(v, v, out.begin(), greater) == out.end());
  CHECK(out == ints{5, 5, 3, 3, 2, 2, 1, 1});
}

// A lambda whose parameters are all auto compiles with what it is meant for alone. Tried with overloads that ask
// whether it takes a range: they do not compile.
TEST_CASE("accepted: generic lambdas, as operations and as bodies") {
  ints v{1, 2, 3}, out(3);
  const auto add = [](auto a, auto b) { return a + b; };
  const auto fold = [](auto begin, auto end, auto value) {
    for (; begin != end; ++begin) value += *begin;
    return value;
  };
  CHECK(fj::parallel_reduce(v, 0, add) == 6);
  CHECK(fj::parallel_reduce(v.begin(), v.end(), 0, add) == 6);
  CHECK(fj::parallel_reduce(v, 0, add, add) == 6);
  CHECK(fj::parallel_reduce(v, 0, fold, add) == 6);
  CHECK(fj::parallel_reduce(v.begin(), v.end(), 0, fold, add) == 6);
  CHECK(fj::parallel_transform_reduce(v, 0, add, [](auto x) { return 2 * x; }) == 12);
  fj::parallel_scan(v, out.begin(), add);
  CHECK(out == ints{1, 3, 6});
  fj::parallel_scan(v, out.begin(), add, 1);
  CHECK(out == ints{2, 4, 7});
  fj::parallel_exclusive_scan(v, out.begin(), 0, add);
  CHECK(out == ints{0, 1, 3});
  CHECK(fj::parallel_scan(
            v, 0, [&](auto begin, auto end, auto value, bool) { return fold(begin, end, value); }, add) == 6);
}
