#include "../../tbb/scalable_allocator.h"
