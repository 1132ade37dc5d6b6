#include "../../tbb/concurrent_unordered_set.h"
