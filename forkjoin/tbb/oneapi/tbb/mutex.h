#include "../../tbb/mutex.h"
