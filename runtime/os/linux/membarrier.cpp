#include "runtime/os/membarrier.hpp"

#include "runtime/os/memory_fault.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

bool membarrier_register() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void membarrier() noexcept {
  while (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
    if (errno == ENOMEM) continue;  // the kernel could not allocate a mask of CPUs
    print_error(
        "forkjoin: membarrier(2) worked when the runtime was made and is forbidden now, perhaps by a seccomp filter. "
        "Install the filter first, or set FORKJOIN_MEMBARRIER=0.\n");
    std::abort();
  }
}

}}}}  // namespace fj::v0_4::detail::os
