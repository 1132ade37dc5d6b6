#include "../../tbb/concurrent_unordered_map.h"
