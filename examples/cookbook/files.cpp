// Files have no events that a fiber could wait for: open, read and write block their thread. fj::blocking gives the P
// to other work if the call lasts. The lines are counted outside of it, on a P.

#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace fs = std::filesystem;

std::string contents(const fs::path& name) {
  return fj::blocking([&] {
    std::ifstream file;
    file.exceptions(std::ios::failbit | std::ios::badbit);  // also if there is no such file
    file.open(name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  });
}

int main() {
  const fs::path folder = fs::temp_directory_path() / ("forkjoin_files_" + std::to_string(::getpid()));
  fs::create_directory(folder);
  std::vector<fs::path> names;
  for (int i = 0; i < 20; ++i) {
    names.push_back(folder / std::to_string(i));
    std::ofstream(names.back()) << std::string(1'000, '\n');
  }
  // Each turn is a fork, because turns take very different times.
  const auto lines_of = [](const fs::path& name) { return std::ranges::count(contents(name), '\n'); };
  const long lines = fj::run([&] { return fj::fork_reduce(names, 0L, std::plus<>(), lines_of); });
  fs::remove_all(folder);
  std::cout << lines << " lines\n";
}
