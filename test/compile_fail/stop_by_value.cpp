// expect: fj::loop_options: stop is a pointer to a token that outlives the call; write .stop = &token

#include <vector>

#include "forkjoin/forkjoin.hpp"

int main() {
  fj::stop_source source;
  const fj::stop_token token = source.get_token();
  std::vector<int> all(3);
#ifdef FIXED
  fj::parallel_for(all, [](int) {}, {.stop = &token});
  fj::parallel_sort(all, {.stop = &token});
#else
  fj::parallel_for(all, [](int) {}, {.stop = token});
  fj::parallel_sort(all, {.stop = source});
#endif
}
