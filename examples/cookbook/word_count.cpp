// A reduction with state: how many words has a text? A word may lie across the end of a block. So the value of a block says
// whether it begins and ends inside of a word, and a join takes two halves of a word for one.

#include <forkjoin/forkjoin.hpp>
#include <iostream>
#include <string>

struct piece {
  long words = 0;
  bool begins_inside = false, ends_inside = false, is_empty = true;
};

piece of(char c) {
  const bool is_letter = c != ' ' && c != '\n';
  return {is_letter, is_letter, is_letter, false};
}

piece join(const piece& a, const piece& b) {
  if (a.is_empty || b.is_empty) return a.is_empty ? b : a;
  const bool is_one_word = a.ends_inside && b.begins_inside;
  return {a.words + b.words - is_one_word, a.begins_inside, b.ends_inside, false};
}

int main() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "continuations are stolen\n";
  const piece all = fj::parallel_reduce(text, piece(), [](piece sum, char c) { return join(sum, of(c)); }, &join);
  std::cout << all.words << " words\n";
}
