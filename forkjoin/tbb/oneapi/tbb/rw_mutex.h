#include "../../tbb/rw_mutex.h"
