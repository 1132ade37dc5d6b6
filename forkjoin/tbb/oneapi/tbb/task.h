#include "../../tbb/task.h"
