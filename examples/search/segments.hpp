// Step 4 of the tutorial: an index in segments, one for each block of documents, which nothing joins.
#pragma once

#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <string>
#include <vector>

#include "library.hpp"

class segments {
 public:
  template <class Library>
  explicit segments(const Library& all) {
    const int blocks = (all.size() + block_size - 1) / block_size;
    found_.resize(static_cast<std::size_t>(blocks));
    const auto read_block = [&](int block) {
      word_index& mine = found_[static_cast<std::size_t>(block)];
      const int last = std::min(all.size(), (block + 1) * block_size);
      for (int document = block * block_size; document != last; ++document)
        for_each_word(all.text(document), [&](const std::string& word) { add_word(mine, word, document); });
    };
    fj::parallel_for(0, blocks, read_block, {.grain = 1});
  }

  // Looks into each segment.
  std::vector<hit> find(const std::string& word) const {
    std::vector<hit> all;
    for (const word_index& segment : found_)
      if (const auto at = segment.find(word); at != segment.end())
        all.insert(all.end(), at->second.begin(), at->second.end());
    return all;
  }

 private:
  static constexpr int block_size = 8;

  std::vector<word_index> found_;
};
