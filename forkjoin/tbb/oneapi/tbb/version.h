#include "../../tbb/version.h"
