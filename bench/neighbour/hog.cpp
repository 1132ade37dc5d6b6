// A neighbour: computes without end on the nth of the processors that it may use.
//
//   <program> <n>
//
// Says `computes` once it is there. It ends with its input, so it does not outlive the program that started it, however
// that ends.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "bench/harness/pin.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s <n>\n", argv[0]);
    return 2;
  }
  std::thread([] {
    char byte = 0;
    while (read(STDIN_FILENO, &byte, 1) > 0) continue;
    _exit(0);
  }).detach();
  const bench::pinned here(static_cast<std::size_t>(std::atoi(argv[1])));
  std::puts("computes");
  std::fflush(stdout);
  for (unsigned long x = 1;; x = x * 6364136223846793005ul + 1) asm volatile("" : "+r"(x));
}
