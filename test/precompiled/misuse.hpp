// What most programs of test/compile_fail begin with, compiled once for all.
#include "forkjoin/forkjoin.hpp"
