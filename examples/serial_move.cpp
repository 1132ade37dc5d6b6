// Mergesort with a mistake, which ./dev profile examples/serial_move.cpp finds: forkjoin/guide/profile.md.
// mergesort.cpp is without it. Usage: serial_move [n], default 200,000 words.

#include <algorithm>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <vector>

using words = std::span<std::string>;

void merge(words a, words b, words out) {
  if (a.size() < b.size()) std::swap(a, b);
  if (a.size() <= 16) {
    const auto end = std::merge(std::move_iterator(a.begin()), std::move_iterator(a.end()),
                                std::move_iterator(b.begin()), std::move_iterator(b.end()), out.begin());
    if (end != out.end()) std::abort();
    return;
  }
  // Divides the longer one in the middle, and the other where that word belongs.
  const std::size_t i = a.size() / 2;
  const auto j = static_cast<std::size_t>(std::ranges::lower_bound(b, a[i]) - b.begin());
  fj::fork_join([&] { merge(a.first(i), b.first(j), out.first(i + j)); },
                [&] { merge(a.subspan(i), b.subspan(j), out.subspan(i + j)); });
}

void mergesort(words all, words room) {
  if (all.size() <= 16) return std::sort(all.begin(), all.end());
  const std::size_t half = all.size() / 2;
  fj::fork_join([&] { mergesort(all.first(half), room.first(half)); },
                [&] { mergesort(all.subspan(half), room.subspan(half)); });
  merge(all.first(half), all.subspan(half), room);
  std::ranges::move(room, all.begin());
}

int main(int argc, char** argv) {
  std::vector<std::string> all(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200'000), room(all.size());
  std::mt19937 random(1);
  for (std::string& word : all)
    for (int i = 0; i != 20; ++i) word += static_cast<char>('a' + random() % 26);
  fj::run([&] { mergesort(all, room); });
  std::cout << all.size() << " words are " << (std::ranges::is_sorted(all) ? "sorted" : "NOT SORTED") << '\n';
}
