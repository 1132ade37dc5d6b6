#include "../../tbb/concurrent_set.h"
