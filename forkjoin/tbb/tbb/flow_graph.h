#pragma once

#error \
    "forkjoin has no <tbb/flow_graph.h>: the memory pool and the flow graph stay those of oneTBB. Keep them in sources of their own, compiled with oneTBB, or write fibers with channels between them, or nested forks (graph, in forkjoin/guide/moving.md)."
