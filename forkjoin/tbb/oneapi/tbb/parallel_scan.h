#include "../../tbb/parallel_scan.h"
