// A header of oneTBB that is left out.
// expect: forkjoin has no <tbb/flow_graph.h>: the memory pool and the flow graph stay those of oneTBB

#ifdef FIXED
#include "forkjoin/tbb/tbb/tbbmalloc_proxy.h"
#else
#include "forkjoin/tbb/tbb/flow_graph.h"
#endif

int main() {}
