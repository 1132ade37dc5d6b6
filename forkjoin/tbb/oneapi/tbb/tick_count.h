#include "../../tbb/tick_count.h"
