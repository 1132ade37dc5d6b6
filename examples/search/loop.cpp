// Step 3 of the tutorial: a loop over blocks of documents. Usage: search_loop [word [folder]]

#include <forkjoin/forkjoin.hpp>

#include "library.hpp"

constexpr int block_size = 8;

word_index index_of(const library& all) {
  // Each block has an index of its own ...
  const int blocks = (all.size() + block_size - 1) / block_size;
  std::vector<word_index> found(static_cast<std::size_t>(blocks));
  const auto read_block = [&](int block) {
    word_index& mine = found[static_cast<std::size_t>(block)];
    const int last = std::min(all.size(), (block + 1) * block_size);
    for (int document = block * block_size; document != last; ++document)
      for_each_word(all.text(document), [&](const std::string& word) { add_word(mine, word, document); });
  };
  fj::parallel_for(0, blocks, read_block, {.grain = 1});

  // ... and one index gets the words of all blocks, in the order of the documents.
  word_index index;
  for (word_index& block : found) append(index, std::move(block));
  return index;
}

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "river";
  const library all(argc > 2 ? argv[2] : "");
  word_index index = fj::run([&] { return index_of(all); });
  std::cout << all.size() << " documents\n" << best_for(all, word, index[word]) << '\n';
}
