#include "../../tbb/blocked_rangeNd.h"
