#include "runtime/os/callers.hpp"

#include <execinfo.h>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

std::vector<std::uintptr_t> callers(std::size_t most) {
  std::vector<void*> found(most + 1);
  const int n = backtrace(found.data(), static_cast<int>(found.size()));
  std::vector<std::uintptr_t> all;
  for (int i = 1; i < n; ++i) all.push_back(reinterpret_cast<std::uintptr_t>(found[static_cast<std::size_t>(i)]));
  return all;
}

}}}}  // namespace fj::v0_4::detail::os
