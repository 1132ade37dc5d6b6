#include "runtime/os/modules.hpp"

#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <exception>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

struct listing {
  std::string text;
  std::exception_ptr error;
};

int add_module(dl_phdr_info* of, std::size_t, void* to) {
  auto& all = *static_cast<listing*>(to);
  try {
    char bias[32];
    std::snprintf(bias, sizeof bias, "%llx ", static_cast<unsigned long long>(of->dlpi_addr));
    std::string path = of->dlpi_name ? of->dlpi_name : "";
    if (path.empty() && all.text.empty()) {  // the program
      char own[PATH_MAX];
      const ssize_t length = readlink("/proc/self/exe", own, sizeof own);
      if (length > 0) path.assign(own, static_cast<std::size_t>(length));
    }
    if (!path.empty()) all.text += bias + path + "\n";
    return 0;
  } catch (...) {
    all.error = std::current_exception();  // not through the C library
    return 1;
  }
}

}  // namespace

std::string modules() {
  listing all;
  dl_iterate_phdr(&add_module, &all);
  if (all.error) std::rethrow_exception(all.error);
  return all.text;
}

}}}}  // namespace fj::v0_4::detail::os
