// Compiled for each binary. The build names the kernels and their ways: BENCH_ENTRIES is a list of KERNEL(name,
// WAY(name, serial) WAY(name, tasks) ...), each of which one source defines.
#include "bench/harness/kernel.hpp"

namespace bench {

#define WAY(kernel_name, way_name) \
  namespace kernel_name {          \
  way way_name##_way();            \
  }
#define KERNEL(kernel_name, ways)  \
  namespace kernel_name {          \
  const kernel& its_description(); \
  }                                \
  ways
BENCH_ENTRIES
#undef KERNEL
#undef WAY

std::vector<entry> entries() {
  std::vector<entry> all;
#define WAY(kernel_name, way_name) all.back().ways.push_back(kernel_name::way_name##_way());
#define KERNEL(kernel_name, ways)                       \
  all.push_back({&kernel_name::its_description(), {}}); \
  ways
  BENCH_ENTRIES
#undef KERNEL
#undef WAY
  return all;
}

}  // namespace bench
