// Blocks of the heap: what frees one writes all of it.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <forkjoin/forkjoin.hpp>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "test/process/races/cases.hpp"

using races_test::unknown;
using races_test::use;

namespace {

struct large {
  int v[64] = {};
};

struct alignas(64) line_of_cache {
  int v[16] = {};
};

thread_local std::unique_ptr<large> own;

CASE(block_deleted) {  // racy
  large* const one = unknown(new large);
  int got = 0;
  fj::fork_join([&] { got = one->v[7]; },  // race: a
                [=] { delete one; });      // race: b
  use(got);
}

CASE(block_deleted_first) {  // racy
  large* const one = unknown(new large);
  fj::fork_join([=] { delete one; },      // race: a
                [=] { one->v[7] = 1; });  // race: b
}

CASE(block_written_after_its_end) {  // racy: the detector's own memory is not where the block was
  for (const std::size_t size : {40u, 104u, 200u, 400u, 1000u}) {
    char* const one = unknown(static_cast<char*>(std::malloc(size)));
    fj::fork_join([=] { std::free(one); },                // race: a
                  [=] { std::memset(one, 'x', size); });  // race: b
  }
}

CASE(block_freed) {  // racy: also what nothing has touched
  const auto one = unknown(static_cast<char*>(std::malloc(801)));
  char got = 0;
  fj::fork_join([&] { got = one[800]; },   // race: a
                [=] { std::free(one); });  // race: b
  use(got);
}

CASE(block_of_own_pages) {  // racy: malloc maps it, and free unmaps it
  const auto one = unknown(static_cast<char*>(std::malloc(std::size_t{1} << 28)));
  fj::fork_join([=] { one[std::size_t{1} << 27] = 1; },  // race: a
                [=] { std::free(one); });                // race: b
}

CASE(block_moved) {  // racy
  auto one = unknown(static_cast<char*>(std::malloc(800)));
  char* moved = nullptr;
  char got = 0;
  fj::fork_join([&] { got = one[5]; },                                            // race: a
                [&] { moved = static_cast<char*>(std::realloc(one, 100000)); });  // race: b
  use(got);
  std::free(moved);
}

CASE(array_deleted) {  // racy
  int* const all = unknown(new int[100]());
  int got = 0;
  fj::fork_join([&] { got = all[99]; },  // race: a
                [=] { delete[] all; });  // race: b
  use(got);
}

CASE(aligned_deleted) {  // racy
  line_of_cache* const one = unknown(new line_of_cache);
  int got = 0;
  fj::fork_join([&] { got = one->v[15]; },  // race: a
                [=] { delete one; });       // race: b
  use(got);
}

CASE(vector_grown) {  // racy: what it had goes
  std::vector<int> all(100, 1);
  const int* const first = unknown(all.data());
  int got = 0;
  fj::fork_join([&] { got = first[50]; },         // race: a
                [&] { all.resize(100000, 2); });  // race: b
  use(got);
}

CASE(blocks_handed_on) {  // clean: the heap hands out what another branch has
                          // freed, in other sizes
  fj::parallel_for(std::size_t{0}, std::size_t{200}, [](std::size_t i) {
    const auto block = unknown(static_cast<char*>(std::malloc(100 + i % 8)));
    std::fill_n(block, 100 + i % 8, '1');
    const auto more = unknown(static_cast<char*>(std::realloc(block, 100 + i * 40)));
    std::fill_n(more, 100 + i * 40, '2');
    std::free(more);
    delete[] unknown(new char[97 + i % 16]);
    std::vector<std::string> texts(i % 10, std::string(30 + i, 'x'));
    use(texts);
  });
}

CASE(block_freed_after_join) {  // clean
  for (int i = 0; i != 10; ++i) {
    std::vector<int> all(100000);
    fj::parallel_for(std::size_t{0}, std::size_t{100}, [&](std::size_t k) { all[k * 1000] = 1; });
  }
}

CASE(block_of_thread_local) {  // clean: each thread frees its own
  fj::parallel_for(0, 20, [](int i) {
    own = std::make_unique<large>();
    own->v[i] = i;
    if (i % 3 == 0) own.reset();
  });
}

CASE(block_of_last_owner) {  // clean: it comes after what the others did
  fj::run([] {
    auto one = std::make_shared<large>();
    fj::scope s;
    for (int i = 0; i != 20; ++i) s.fork([one, i] { use(one->v[i]); });
    s.fork([one = std::move(one)]() mutable { one.reset(); });
  });
}

}  // namespace
