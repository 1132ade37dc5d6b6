#include "../../tbb/profiling.h"
