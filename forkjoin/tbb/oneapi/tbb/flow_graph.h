#include "../../tbb/flow_graph.h"
