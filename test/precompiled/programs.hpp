// What nearly every program of test/process and examples/ begins with, compiled once for all. None includes this: each
// says itself what it uses, and ./dev test --all compiles some variants without it.
#include "forkjoin/forkjoin.hpp"
#include "forkjoin/go.hpp"
