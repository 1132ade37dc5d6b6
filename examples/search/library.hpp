// What the programs of the tutorial (forkjoin/guide/tutorial.md) share: documents, their words, and an index of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

// The files of a folder and of all folders in it. Without a folder: 400 documents that are made up, and are the same
// everywhere.
class library {
 public:
  explicit library(const std::string& folder) {
    if (folder.empty()) return;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder))
      if (each.is_regular_file()) files_.push_back(each.path());
    std::ranges::sort(files_);
    if (files_.empty()) throw std::runtime_error("the folder " + folder + " has no file");
  }

  int size() const { return files_.empty() ? 400 : static_cast<int>(files_.size()); }

  std::string name(int document) const {
    return files_.empty() ? "document " + std::to_string(document)
                          : files_[static_cast<std::size_t>(document)].string();
  }

  std::string text(int document) const {
    if (files_.empty()) return made_up(document);
    std::ifstream file;
    file.exceptions(std::ios::failbit | std::ios::badbit);  // also if there is no such file
    file.open(files_[static_cast<std::size_t>(document)], std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

 private:
  static std::string made_up(int document) {
    static const char* const parts[] = {"fork",  "join", "stone", "river",  "hill", "wood", "sea",
                                        "light", "wind", "rain",  "snow",   "sun",  "moon", "star",
                                        "cloud", "leaf", "root",  "branch", "bird", "fish"};
    std::minstd_rand random(static_cast<unsigned>(document) + 1);
    std::string text;
    for (int word = 0; word != 1000; ++word) {
      // A product of three numbers: short words are frequent, long ones are rare.
      std::uint64_t number = 1;
      for (int factor = 0; factor != 3; ++factor) number *= random() % 200;
      for (number /= 400; number >= 20; number /= 20) text += parts[number % 20];
      text += parts[number];
      text += ' ';
    }
    return text;
  }

  std::vector<std::filesystem::path> files_;
};

// Calls f for each word of a text: what has letters alone, in lower case.
template <class F>
void for_each_word(const std::string& text, F f) {
  std::string word;
  for (const char each : text + ' ') {
    const char letter = static_cast<char>(each | 0x20);
    if (letter >= 'a' && letter <= 'z') {
      word += letter;
    } else if (!word.empty()) {
      f(std::as_const(word));
      word.clear();
    }
  }
}

struct hit {
  int document, times;
};

// Where each word is, the documents in order.
using word_index = std::unordered_map<std::string, std::vector<hit>>;

inline void add_word(word_index& index, const std::string& word, int document) {
  std::vector<hit>& hits = index[word];
  if (hits.empty() || hits.back().document != document) hits.push_back({document, 0});
  ++hits.back().times;
}

// Adds an index of later documents.
inline void append(word_index& index, word_index later) {
  for (auto& [word, hits] : later) {
    std::vector<hit>& all = index[word];
    all.insert(all.end(), hits.begin(), hits.end());
  }
}

// The document that has the word most often, as a line of text.
inline std::string best_for(const library& all, const std::string& word, const std::vector<hit>& hits) {
  if (hits.empty()) return word + ": in no document";
  const hit best = *std::ranges::max_element(hits, {}, &hit::times);
  return word + ": in " + std::to_string(hits.size()) + (hits.size() == 1 ? " document, " : " documents, ") +
         std::to_string(best.times) + (best.times == 1 ? " time in " : " times in ") + all.name(best.document);
}
