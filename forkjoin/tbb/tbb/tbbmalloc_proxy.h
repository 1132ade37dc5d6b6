// Empty, as oneTBB's is on Linux: the memory allocator is replaced by linking -ltbbmalloc_proxy, which is a library of
// its own.
#pragma once
