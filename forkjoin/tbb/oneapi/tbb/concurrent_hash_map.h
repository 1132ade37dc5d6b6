#include "../../tbb/concurrent_hash_map.h"
