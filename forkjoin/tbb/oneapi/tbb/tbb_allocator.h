#include "../../tbb/tbb_allocator.h"
