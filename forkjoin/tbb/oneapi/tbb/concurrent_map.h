#include "../../tbb/concurrent_map.h"
