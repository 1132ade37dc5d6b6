#include "../../tbb/info.h"
