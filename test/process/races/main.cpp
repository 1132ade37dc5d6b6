#include <cstdio>
#include <cstring>

#include "test/process/races/cases.hpp"

int main(int argc, char** argv) {
  for (const races_test::named_case* one = races_test::all_cases; one; one = one->next) {
    if (argc < 2) {
      std::puts(one->name);
    } else if (std::strcmp(one->name, argv[1]) == 0) {
      one->run();
      return 3;
    }
  }
  return argc < 2 ? 0 : 1;
}
