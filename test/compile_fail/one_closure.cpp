// One closure is a plain call: there is nothing to fork.
// expect: void fork_join(F&& f) = delete;  // one closure has nothing to fork from: call it
// expect: void fork_join(const stop_token& stop, F&& f) = delete;  // one closure has nothing to fork from: call it
// expect: void parallel_invoke(F&& f) = delete;  // one closure has nothing to fork from: call it

#include "forkjoin/forkjoin.hpp"

int main() {
  fj::stop_token token;
#ifdef FIXED
  fj::fork_join([] {}, [] {});
  fj::fork_join(token, [] {}, [] {});
  fj::parallel_invoke([] {}, [] {});
#else
  fj::fork_join([] {});
  fj::fork_join(token, [] {});
  fj::parallel_invoke([] {});
#endif
}
