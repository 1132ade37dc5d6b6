#include "../../tbb/null_rw_mutex.h"
