// Stacks that were used deeply give their memory back, when their strand waits and when it ends.
#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "forkjoin/go.hpp"
#include "forkjoin/scope.hpp"
#include "runtime/os/memory/pages.hpp"
#include "test/support.hpp"

namespace {

using fj::detail::os::is_resident;

// Touches all pages of a large frame. Returns an address in one of the lowest pages, which no frame uses any more.
[[gnu::noinline]] std::byte* dig() {
  volatile std::byte frame[std::size_t{1} << 20];
  for (std::size_t i = 0; i < sizeof(frame); i += fj::detail::os::page_size()) frame[i] = std::byte{1};
  auto* volatile low = const_cast<std::byte*>(&frame[fj::detail::os::page_size()]);
  CHECK(is_resident(low));
  return low;
}

}  // namespace

// Each hangs without its call of trim_stack (tried).
TEST_CASE("a strand that waits gives back the unused memory of its stack") {
  if (test::sanitized) return;  // a sanitizer's frames need not lie on the stack
  const test::watchdog dog("memory of a suspended strand", 2);
  fj::runtime rt(test::with_procs(2));
  rt.run([] {
    std::atomic<bool> stolen{false};
    std::atomic<std::byte*> deep{nullptr};
    fj::fork_join(
        [&] {
          test::spin_until([&] { return stolen.load(); });
          deep = dig();
        },
        [&] {
          stolen = true;
          test::spin_until([&] { return deep.load() != nullptr; });
          test::spin_until([&] { return !is_resident(deep); });
        });
  });
}

TEST_CASE("a strand that has ended gives back the memory of its stack") {
  if (test::sanitized) return;
  const test::watchdog dog("memory of a strand that has ended", 2);
  fj::runtime rt(test::with_procs(2));
  rt.run([] {
    std::atomic<std::byte*> deep{nullptr};
    fj::fork_join([&] { test::spin_until([&] { return deep.load() != nullptr; }); }, [&] { deep = dig(); });
    test::spin_until([&] { return !is_resident(deep); });
  });
}

// Its P keeps the stacks of the children for other strands, and is busy. Hangs if it keeps them as they are (tried).
TEST_CASE("children of scopes that have ended give back the memory of their stacks") {
  if (test::sanitized) return;
  const test::watchdog dog("memory of children that have ended", 1);
  fj::runtime rt(test::with_procs(1));
  std::vector<std::byte*> deep;
  const auto nest = [&](const auto& self, int levels) -> void {
    fj::scope s;
    s.fork([&] {
      if (levels > 1) self(self, levels - 1);
      deep.push_back(dig());
    });
    s.join();
  };
  rt.go([&] {
      fj::go([&] { nest(nest, 5); }).get();
      for (std::byte* const one : deep) test::spin_until([&] { return !is_resident(one); });
    }).get();
  CHECK(deep.size() == 5);
}
