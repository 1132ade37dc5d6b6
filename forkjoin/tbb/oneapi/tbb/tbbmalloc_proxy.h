#include "../../tbb/tbbmalloc_proxy.h"
