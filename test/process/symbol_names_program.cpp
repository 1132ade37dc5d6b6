// Prints what the profile and the race detector call each symbol of its input, one a line.
#include <cstdio>
#include <iostream>
#include <string>

#include "runtime/os/symbols.hpp"

int main() {
  for (std::string symbol; std::getline(std::cin, symbol);) std::puts(fj::detail::os::name_of(symbol).c_str());
}
