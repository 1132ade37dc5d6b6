#include "../../tbb/collaborative_call_once.h"
