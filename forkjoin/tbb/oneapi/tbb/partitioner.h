#include "../../tbb/partitioner.h"
