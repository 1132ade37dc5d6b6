#include "../../tbb/null_mutex.h"
