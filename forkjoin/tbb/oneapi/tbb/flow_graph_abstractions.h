#include "../../tbb/flow_graph_abstractions.h"
