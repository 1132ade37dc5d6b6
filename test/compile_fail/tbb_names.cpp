// oneTBB's names in a scope.
// expect: run(F&& f) = delete;  // write s.fork(f)
// expect: wait() = delete;      // write s.join()

#include "forkjoin/forkjoin.hpp"

template <class Scope>
concept task_group = requires(Scope& s) { s.run([] {}); } || requires(Scope& s) { s.wait(); };
static_assert(!task_group<fj::scope>);

int main() {
  fj::run([] {
    fj::scope s;
#ifdef FIXED
    s.fork([] {});
    s.join();
#else
    s.run([] {});
    s.wait();
#endif
  });
}
