// Cancellation of a search: which number below 10^digits has a given hash? Usage: stop_search [digits], default 6. As
// soon as one is found, no worker begins another part; running parts poll the token now and then.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <vector>

std::uint64_t hash(std::uint64_t x) {
  for (int round = 0; round != 3; ++round) x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
  return x;
}

struct search {
  std::uint64_t wanted;
  fj::stop_source source = {};
  std::atomic<std::uint64_t> found = 0;

  void in(std::uint64_t first, std::uint64_t last) {
    if (source.stop_requested()) return;
    if (last - first <= 1000) {
      for (std::uint64_t x = first; x != last; ++x) {
        if (hash(x) != wanted) continue;
        found = x;
        source.request_stop();
      }
      return;
    }
    const std::uint64_t middle = first + (last - first) / 2;
    fj::fork_join([=, this] { in(first, middle); }, [=, this] { in(middle, last); });
  }
};

int main(int argc, char** argv) {
  const int digits = argc > 1 ? std::atoi(argv[1]) : 6;
  std::uint64_t size = 1;
  for (int i = 0; i != digits; ++i) size *= 10;
  const std::uint64_t secret = size / 3;

  search one{.wanted = hash(secret)};
  fj::run([&] { one.in(0, size); });
  std::cout << "found " << one.found << '\n';

  // Algorithms take the token, too. They throw if they left something out.
  std::vector<std::uint64_t> all(1000, 1);
  const fj::stop_token asked = one.source.get_token();
  try {
    fj::parallel_sort(all, {}, {}, {.stop = &asked});
  } catch (const fj::cancelled& error) {
    std::cout << error.what() << '\n';
  }
}
