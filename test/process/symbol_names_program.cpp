// Prints what the library's messages, the profile and the race detector call each function of its input, one a line.
// With an argument: whose they take a file to be, the program's or the library's.
#include <cstdio>
#include <iostream>
#include <string>

#include "runtime/os/function_names.hpp"
#include "runtime/os/symbols.hpp"

int main(int argc, char**) {
  using namespace fj::detail;
  for (std::string line; std::getline(std::cin, line);)
    std::puts(argc == 1 ? os::name_of(line).c_str() : os::is_of_library(line) ? "library" : "program");
}
