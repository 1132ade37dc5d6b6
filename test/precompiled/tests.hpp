// What nearly every doctest program begins with, compiled once for all. None includes this: each says itself what it
// uses, and ./dev test --all compiles some variants without it.
#include <doctest/doctest.h>

#include "test/support.hpp"
