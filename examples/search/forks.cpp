// Step 2 of the tutorial: both halves of the documents at the same time. Usage: search_forks [word [folder]]

#include <forkjoin/forkjoin.hpp>

#include "library.hpp"

word_index index_of(const library& all, int first, int last) {
  word_index index;
  if (last - first == 1) {
    for_each_word(all.text(first), [&](const std::string& word) { add_word(index, word, first); });
    return index;
  }
  const int middle = first + (last - first) / 2;
  auto [left, right] = fj::fork_join([&] { return index_of(all, first, middle); },  //
                                     [&] { return index_of(all, middle, last); });
  append(left, std::move(right));
  return std::move(left);
}

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "river";
  const library all(argc > 2 ? argv[2] : "");
  word_index index = fj::run([&] { return index_of(all, 0, all.size()); });
  std::cout << all.size() << " documents\n" << best_for(all, word, index[word]) << '\n';
}
