// The objects that the runtime keeps for reuse: stacks (stack_pool, with their pages) and deques.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <set>
#include <thread>
#include <vector>

#include "runtime/os/memory/pages.hpp"
#include "runtime/stacks/deque_pool.hpp"
#include "runtime/stacks/stack_pool.hpp"
#include "test/support.hpp"

namespace {

using namespace fj::detail;

constexpr std::size_t size_of_stacks = std::size_t{1} << 20;
std::atomic<unsigned> numbers{0};

// Asks the system, without a fault.
bool is_readable(const std::byte* at) {
  static const std::array<int, 2> ends = [] {
    std::array<int, 2> made{};
    REQUIRE(pipe(made.data()) == 0);
    return made;
  }();
  std::byte back{};
  return write(ends[1], at, 1) == 1 && read(ends[0], &back, 1) == 1;
}

}  // namespace

TEST_CASE("stack_pool: fibers are taken, given back and taken again") {
  stack_pool pool(size_of_stacks, numbers);
  CHECK(pool.in_use() == 0);
  fiber* const a = pool.take(nullptr);
  fiber* const b = pool.take(nullptr);
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a != b);
  CHECK(a->number != b->number);
  CHECK(pool.in_use() == 2);
  CHECK(pool.peak() == 2);
  CHECK(pool.seems_empty());
  pool.give(a);
  CHECK_FALSE(pool.seems_empty());
  CHECK(pool.in_use() == 1);
  CHECK(pool.take(nullptr) == a);  // the one used last
  CHECK(pool.peak() == 2);
  pool.give(a);
  pool.give(b);
  CHECK(pool.in_use() == 0);
}

TEST_CASE("stack_pool: a stack has the size asked for, and all of it can be used") {
  for (const std::size_t size : {std::size_t{16} << 10, std::size_t{100'000}, size_of_stacks}) {
    stack_pool pool(size, numbers);
    fiber* const f = pool.take(nullptr);
    REQUIRE(f);
    CHECK(pool.stack_size() >= size);
    CHECK(f->stack_size() >= size);
    CHECK(f->stack_bottom() - f->mapping == stack_pool::guard_size);
    std::memset(f->stack_bottom(), 0xab, f->stack_size());
    pool.give(f);
  }
}

// Stacks lie side by side, several in a reservation. Tried without `first`, and without the page above the next one.
TEST_CASE("stack_pool: each of many stacks has a guard below it, and one above where that costs no mapping") {
  if (test::sanitized || RUNNING_ON_VALGRIND) return;  // these know better what may be read
  const std::size_t page = os::page_size();
  std::byte* const tried = os::reserve_pages(page);
  os::guard_pages_if_free(tried, page);
  const bool has_regions = !is_readable(tried);
  os::release_pages(tried, page);
  stack_pool pool(size_of_stacks, numbers);
  std::vector<fiber*> all(20);
  for (fiber*& f : all) {
    f = pool.take(nullptr);
    REQUIRE(f);
    CAPTURE(f->number);
    CHECK(is_readable(reinterpret_cast<std::byte*>(f)));
    CHECK(is_readable(f->stack_bottom()));
    CHECK_FALSE(is_readable(f->stack_bottom() - 1));
    CHECK_FALSE(is_readable(f->mapping));
    if (has_regions) CHECK_FALSE(is_readable(f->mapping + f->mapping_size - page));
  }
  for (fiber* const f : all) pool.give(f);
}

TEST_CASE("stack_pool: touched pages are given back, except those that are kept") {
  stack_pool pool(size_of_stacks, numbers);
  fiber* const f = pool.take(nullptr);
  REQUIRE(f);
  std::byte* const top = f->stack_bottom() + f->stack_size();
  CHECK(!os::is_resident(f->stack_bottom()));
  std::memset(f->stack_bottom(), 1, f->stack_size());
  CHECK(os::is_resident(f->stack_bottom()));
  pool.give(f);
  CHECK(!os::is_resident(f->stack_bottom()));
  CHECK(!os::is_resident(top - stack_pool::kept_bytes - 3 * os::page_size()));
  CHECK(os::is_resident(top - os::page_size() - 1));
}

// Tried with marks from the first trim on: two pages.
TEST_CASE("stack_pool: to wait for the first time touches no page, and what a strand touched below is given back") {
  stack_pool pool(size_of_stacks, numbers);
  std::vector<fiber*> used_up;
  for (const bool went_deep : {false, true}) {
    CAPTURE(went_deep);
    fiber* const f = pool.take(nullptr);
    REQUIRE(f);
    std::byte* const top = f->stack_top();
    const std::size_t used = went_deep ? size_of_stacks / 2 : 1000;
    std::memset(top - used, 1, used);
    trim_stack(*f, top - 1000);
    std::size_t touched = 0;
    for (std::byte* at = f->stack_bottom(); at < top; at += os::page_size()) touched += os::is_resident(at);
    CHECK(touched <= (went_deep ? stack_pool::kept_bytes / os::page_size() + 2 : 2));
    used_up.push_back(f);
  }
  for (fiber* const f : used_up) pool.give(f);
}

// Marks would cost each waiting strand a page. Tried with marks if one page is beyond the part that is kept.
TEST_CASE("stack_pool: a stack of the size that is kept gets no marks") {
  stack_pool pool(stack_pool::kept_bytes, numbers);
  fiber* const f = pool.take(nullptr);
  REQUIRE(f);
  trim_stack(*f, f->stack_top() - 1000);
  CHECK(!os::is_resident(f->stack_top() - stack_pool::kept_bytes));
  pool.give(f);
  CHECK(!os::is_resident(f->stack_bottom()));
}

TEST_CASE("stack_pool: a strand that goes deeper is noticed every time") {
  // If the marks are always taken for whole, the pages stayed. If the marks are not put back, pages are discarded every
  // time.
  stack_pool pool(size_of_stacks, numbers);
  fiber* const f = pool.take(nullptr);
  REQUIRE(f);
  std::byte* const top = f->stack_bottom() + f->stack_size();
  std::byte* const deep = top - 2 * stack_pool::kept_bytes;
  for (int i = 0; i < 3; ++i) trim_stack(*f, top);  // then it has marks
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    std::memset(deep, 1, static_cast<std::size_t>(top - deep));
    CHECK(os::is_resident(deep));
    trim_stack(*f, top - 1024);
    CHECK(!os::is_resident(deep));
    CHECK(std::all_of(top - 1024, top, [](std::byte b) { return b == std::byte{1}; }));
    // A strand that stays above costs no system call, so trim_stack does not notice a frame that steps over a whole
    // page. Such pages wait for the next strand that goes deeper.
    std::memset(top - stack_pool::kept_bytes / 2, 1, stack_pool::kept_bytes / 2);
    *deep = std::byte{1};
    trim_stack(*f, top);
    CHECK(os::is_resident(top - stack_pool::kept_bytes / 2));
    CHECK(os::is_resident(deep));
  }
  pool.give(f);
}

// Each tried with marks that count as whole at the first trim: then the pages stayed.
TEST_CASE("stack_pool: the pages that a suspended strand could keep are given back at its end") {
  stack_pool pool(size_of_stacks, numbers);
  fiber* const f = pool.take(nullptr);
  REQUIRE(f);
  std::byte* const top = f->stack_bottom() + f->stack_size();
  std::byte* const line = top - stack_pool::kept_bytes;
  std::byte* const deep = line - 40'000;
  const std::size_t page = os::page_size();
  SUBCASE("suspended above the line, after it was deeper") {
    trim_stack(*f, top);
    std::memset(deep, 1, static_cast<std::size_t>(top - deep));
    trim_stack(*f, top - 50'000);
  }
  SUBCASE("suspended below it, and the page with the marks untouched") {
    trim_stack(*f, top);
    std::memset(deep, 1, static_cast<std::size_t>(line - deep));
    trim_stack(*f, deep);
  }
  trim_stack(*f, top);
  for (std::byte* at = f->stack_bottom(); at < line - page; at += page) CHECK(!os::is_resident(at));
  pool.give(f);
}

// With one mark only, and with marks 512 bytes apart (both tried), pages stay.
TEST_CASE("stack_pool: a recursion is noticed although its frames all leave the same word untouched") {
  stack_pool pool(size_of_stacks, numbers);
  fiber* const f = pool.take(nullptr);
  REQUIRE(f);
  std::byte* const top = f->stack_top();
  std::byte* const deep = top - 2 * stack_pool::kept_bytes;
  for (const std::size_t frame : {32, 64, 96, 112, 128, 256, 512}) {
    CAPTURE(frame);
    for (std::size_t unused = 0; unused < frame; unused += 8) {
      CAPTURE(unused);
      trim_stack(*f, top);
      for (std::byte* at = deep; at + frame <= top; at += frame) {
        std::memset(at, 1, unused);
        std::memset(at + unused + 8, 1, frame - unused - 8);
      }
      trim_stack(*f, top);
      CHECK(!os::is_resident(deep));
    }
  }
  pool.give(f);
}

// With the marks alone (tried) the pages stay for ever.
TEST_CASE("stack_pool: pages below a frame that steps over the marks are given back before long") {
  stack_pool pool(2 << 20, numbers);
  fiber* const f = pool.take(nullptr);
  std::byte* const top = f->stack_top();
  std::byte* const deep = top - (1 << 20);
  trim_stack(*f, top);
  *deep = std::byte{1};
  int trims = 0;
  while (os::is_resident(deep) && ++trims < 100) trim_stack(*f, top);
  CHECK(trims <= 16);
  pool.give(f);
}

TEST_CASE("stack_pool: a suspended stack keeps what is in use") {
  stack_pool pool(size_of_stacks, numbers);
  fiber* const f = pool.take(nullptr);
  REQUIRE(f);
  std::memset(f->stack_bottom(), 1, f->stack_size());
  std::byte* const used = f->stack_bottom() + f->stack_size() / 2;
  trim_stack(*f, used);
  CHECK(!os::is_resident(f->stack_bottom()));
  CHECK(std::all_of(used, f->stack_bottom() + f->stack_size(), [](std::byte b) { return b == std::byte{1}; }));
  CHECK(std::all_of(used - stack_pool::kept_bytes, used, [](std::byte b) { return b == std::byte{1}; }));
  trim_stack(*f, f->stack_bottom());  // nothing below
  trim_stack(*f, f->stack_bottom() + 1);
  pool.give(f);
}

TEST_CASE("stack_pool: a size that the system refuses gives nullptr") {
  if (test::sanitized || RUNNING_ON_VALGRIND) return;  // these end the program instead
  stack_pool pool(std::size_t{1} << 47, numbers);
  CHECK(pool.take(nullptr) == nullptr);
  CHECK(pool.in_use() == 0);
}

TEST_CASE("stack_pool and deque_pool: concurrent threads get different objects") {
  stack_pool stacks(std::size_t{64} << 10, numbers);
  deque_pool deques(std::size_t{64} << 10, false);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      job whole{nullptr};
      for (unsigned round = 0; round < test::divided(500u); ++round) {
        std::vector<fiber*> mine;
        for (int i = 0; i < 3; ++i) mine.push_back(stacks.take(nullptr));
        deque* const d = deques.take();
        for (fiber* f : mine) f->whose = &whole;
        std::this_thread::yield();
        for (fiber* f : mine) wrong += f->whose != &whole;
        wrong += !d->looks_empty();
        for (fiber* f : mine) stacks.give(f);
        deques.give(d);
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(stacks.in_use() == 0);
  CHECK(stacks.peak() <= 12);
}

TEST_CASE("deque_pool: deques are reused, and have room for the public records of a whole stack") {
  for (const std::size_t size : {std::size_t{16} << 10, size_of_stacks}) {
    deque_pool pool(size, false);
    deque* const a = pool.take();
    deque* const b = pool.take();
    REQUIRE(a);
    REQUIRE(b);
    CHECK(a != b);
    CHECK(a->looks_empty());
    pool.give(a);
    CHECK(pool.take() == a);
    // A record with its frame takes more than 32 bytes of stack.
    std::deque<continuation> records;
    for (std::size_t i = 0; i < size / 64; ++i) records.emplace_back(nullptr);
    a->open(nullptr);
    for (continuation& r : records)
      if (a->push(r, deque::name_of(r))) a->attend();
    while (a->share()) {}
    for (continuation& r : records) CHECK(a->for_thieves().steal(nullptr).record == &r);
    CHECK(a->looks_empty());
    pool.give(a);
    pool.give(b);
  }
}
