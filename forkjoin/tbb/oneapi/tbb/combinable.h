#include "../../tbb/combinable.h"
