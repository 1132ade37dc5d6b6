// Invariants that debug builds assert.
#pragma once

#include <cassert>

/// Asserts in debug builds (FORKJOIN_DEBUG). Costs nothing in other builds, because the fast path of a fork uses it.
#ifdef FORKJOIN_DEBUG
#define FORKJOIN_CHECK(condition) assert(condition)
#else
#define FORKJOIN_CHECK(condition) static_cast<void>(0)
#endif
