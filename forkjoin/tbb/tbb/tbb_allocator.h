#pragma once

#include <memory>

namespace tbb {

template <class T>
using tbb_allocator = std::allocator<T>;

}  // namespace tbb
