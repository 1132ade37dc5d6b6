// forkjoin.hpp has no channels. Of a variable g++ says no more than that its type is incomplete; it shows the line at other uses.
// expect: class channel;  // include <forkjoin/go.hpp>

#include "forkjoin/forkjoin.hpp"
#ifdef FIXED
#include "forkjoin/go.hpp"
#endif

void send(const fj::channel<int>& c) { c.send(1); }

int main() {}
