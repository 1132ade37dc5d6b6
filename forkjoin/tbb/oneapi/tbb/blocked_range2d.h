#include "../../tbb/blocked_range2d.h"
