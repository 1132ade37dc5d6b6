#include "../../tbb/blocked_range3d.h"
