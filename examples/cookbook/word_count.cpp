// A reduction with state: how many words has a text? The loop over a block carries from letter to letter whether it is
// inside of a word. A word may lie across the end of a block, so the value of a block says how it begins and ends.

#include <cstddef>
#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <string>

struct piece {
  long words = 0;
  bool begins_inside = false, ends_inside = false, is_empty = true;
};

piece join(const piece& a, const piece& b) {
  if (a.is_empty || b.is_empty) return a.is_empty ? b : a;
  const bool is_one_word = a.ends_inside && b.begins_inside;
  return {a.words + b.words - is_one_word, a.begins_inside, b.ends_inside, false};
}

int main() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "continuations are stolen\n";
  const auto count = [&](std::size_t begin, std::size_t end, piece sum) {
    for (std::size_t i = begin; i != end; ++i) {
      const bool is_letter = text[i] != ' ' && text[i] != '\n';
      if (sum.is_empty) sum = {0, is_letter, false, false};
      sum.words += is_letter && !sum.ends_inside;
      sum.ends_inside = is_letter;
    }
    return sum;
  };
  std::cout << fj::parallel_reduce(std::size_t{0}, text.size(), piece(), count, &join).words << " words\n";
}
