// Prints what the library's messages, the profile and the race detector call each function of its input, one a line.
// With `files`: whose they take a file to be, the program's or the library's. With `closures`: which closure they take
// a function to call.
#include <cstdio>
#include <iostream>
#include <string>

#include "runtime/os/function_names.hpp"
#include "runtime/os/symbols.hpp"

int main(int argc, char** argv) {
  using namespace fj::detail;
  const std::string what = argc == 1 ? "" : argv[1];
  for (std::string line; std::getline(std::cin, line);)
    std::puts(what == "files"      ? os::is_of_library(line) ? "library" : "program"
              : what == "closures" ? os::name_of(os::closure_called_by(line)).c_str()
                                   : os::name_of(line).c_str());
}
