// The header of a container of oneTBB, where no oneTBB is installed.
// expect: forkjoin has no containers of its own: <tbb/concurrent_*.h> are oneTBB's, beside these names. Install it (Debian: libtbb-dev)

#define FORKJOIN_NO_ONETBB
#ifdef FIXED
#include "forkjoin/tbb/tbb/combinable.h"
#else
#include "forkjoin/tbb/tbb/concurrent_hash_map.h"
#endif

int main() {}
