#include "../../tbb/parallel_pipeline.h"
