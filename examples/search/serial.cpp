// Step 1 of the tutorial: an index of the words of a folder, and where a word is. Usage: search_serial [word [folder]]

#include "library.hpp"

word_index index_of(const library& all, int first, int last) {
  word_index index;
  for (int document = first; document != last; ++document)
    for_each_word(all.text(document), [&](const std::string& word) { add_word(index, word, document); });
  return index;
}

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "river";
  const library all(argc > 2 ? argv[2] : "");
  word_index index = index_of(all, 0, all.size());
  std::cout << all.size() << " documents\n" << best_for(all, word, index[word]) << '\n';
}
