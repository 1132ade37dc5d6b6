#include "runtime/os/copy_of_process.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

int make_nameless_file() noexcept {
  char name[] = "/tmp/forkjoin.XXXXXX";
  const int descriptor = mkstemp(name);
  if (descriptor < 0) return -1;
  unlink(name);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}

}}}}  // namespace fj::v0_4::detail::os
