// Which of oneTBB's interfaces this follows.
#pragma once

#define ONETBB_SPEC_VERSION "1.0"
#define TBB_VERSION_MAJOR 2021
#define TBB_VERSION_MINOR 8
#define TBB_VERSION_PATCH 0
#define TBB_VERSION_STRING "2021.8.0"
#define TBB_INTERFACE_VERSION 12080
#define TBB_INTERFACE_VERSION_MAJOR 12
#define TBB_INTERFACE_VERSION_MINOR 8
#define FORKJOIN_TBB 1

namespace tbb {
}
namespace oneapi {
namespace tbb = ::tbb;
}

inline const char* TBB_runtime_version() { return TBB_VERSION_STRING; }
inline int TBB_runtime_interface_version() { return TBB_INTERFACE_VERSION; }

// The namespace of what libstdc++'s parallel algorithms put on oneTBB (pstl/parallel_backend_tbb.h, which includes this
// first): under a name of its own, as another source of the program may have them over oneTBB.
#define __tbb_backend __forkjoin_backend
