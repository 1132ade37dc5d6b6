// Memory as such: bytes that are copied and set, and the ends of blocks.
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
