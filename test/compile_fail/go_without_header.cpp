// forkjoin.hpp has no fibers, and says which header has them. test/house/go_names.py uses every name.
// expect: include <forkjoin/go.hpp>, which has fj::channel
// expect: // include <forkjoin/go.hpp>

#include "forkjoin/forkjoin.hpp"
#ifdef FIXED
#include "forkjoin/go.hpp"
#endif

int main() {
  fj::channel<int> c;
  fj::go([=] { c.send(1); });
}
