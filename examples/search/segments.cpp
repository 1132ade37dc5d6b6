// Step 4 of the tutorial: an index in segments. Usage: search_segments [word [folder]]

#include "segments.hpp"

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "river";
  const library all(argc > 2 ? argv[2] : "");
  const segments index = fj::run([&] { return segments(all); });
  std::cout << all.size() << " documents\n" << best_for(all, word, index.find(word)) << '\n';
}
