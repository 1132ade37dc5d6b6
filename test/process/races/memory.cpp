// Memory as such: bytes that are copied and set, and the ends of blocks.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <forkjoin/forkjoin.hpp>

#include "test/process/races/cases.hpp"

using races_test::use;

namespace {

struct letters {
  char c[24];
};

char to[4096];
char from[4096];
letters one, other;

long of_mapped_pages(long k) {
  constexpr std::size_t size = 1 << 16;
  auto* const p = static_cast<long*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  long sum = 0;
  for (int i = 0; i < 100; ++i) p[i] = k * i;
  for (int i = 0; i < 100; ++i) sum += p[i];
  munmap(p, size);
  return sum;
}

CASE(pages_mapped_again) {  // clean
  auto [a, b] = fj::fork_join([] { return of_mapped_pages(1); }, [] { return of_mapped_pages(2); });
  use(a);
  use(b);
}

thread_local char* behind_guard = nullptr;

CASE(guard_below_what_a_thread_local_names) {  // racy
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* const at =
      static_cast<char*>(mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(at, page, PROT_NONE);
  behind_guard = at + page;
  char& above = at[2 * page];
  fj::fork_join([&] { ++above; },   // race: a
                [&] { ++above; });  // race: b
  behind_guard = nullptr;
}

CASE(bytes_set_9) {                             // racy: compilers would expand so few in place
  fj::fork_join([] { std::memset(to, 1, 9); },  // race: a
                [] { to[8] = 2; });             // race: b
  use(to);
}

CASE(text_copied_7) {                               // racy
  fj::fork_join([] { std::strcpy(to, "abcdef"); },  // race: a
                [] { to[3] = 2; });                 // race: b
  use(to);
}

CASE(bytes_compared_8) {  // racy
  bool same = false;
  fj::fork_join([&] { same = std::memcmp(to, from, 8) == 0; },  // race: a
                [] { to[3] = 2; });                             // race: b
  use(same);
}

CASE(bytes_set_24) {                             // racy
  fj::fork_join([] { std::memset(to, 1, 24); },  // race: a
                [] { to[20] = 2; });             // race: b
  use(to);
}

CASE(bytes_set_1000) {                             // racy
  fj::fork_join([] { std::memset(to, 1, 1000); },  // race: a
                [] { to[900] = 2; });              // race: b
  use(to);
}

CASE(bytes_copied_24) {                             // racy
  fj::fork_join([] { std::memcpy(to, from, 24); },  // race: a
                [] { to[20] = 2; });                // race: b
  use(to);
}

CASE(bytes_copied_1000) {                             // racy
  fj::fork_join([] { std::memcpy(to, from, 1000); },  // race: a
                [] { from[900] = 2; });               // race: b
  use(to);
}

CASE(bytes_moved_9) {                                 // racy
  fj::fork_join([] { std::memmove(to, to + 1, 9); },  // race: a
                [] { to[9] = 2; });                   // race: b
  use(to);
}

CASE(structure_copied) {                 // racy
  fj::fork_join([] { one = other; },     // race: a
                [] { one.c[20] = 2; });  // race: b
  use(one);
}

CASE(array_filled) {  // racy: a loop that compilers take for memset
  fj::fork_join(
      [] {
        for (std::size_t i = 0; i != 24; ++i) to[i] = 1;  // race: a
      },
      [] { to[20] = 2; });  // race: b
  use(to);
}

CASE(bytes_beside) {  // clean
  fj::fork_join([] { std::memset(to, 1, 9); }, [] { std::memcpy(to + 9, from, 24); });
  use(to);
}

}  // namespace
