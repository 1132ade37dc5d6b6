// A race, for the detector.
#include <forkjoin/forkjoin.hpp>

int main() {
  int hits = 0;
  fj::parallel_for(0, 10, [&](int) { ++hits; });
  return hits == 10 ? 0 : 1;
}
