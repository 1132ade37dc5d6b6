#include "runtime/os/membarrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace fj::detail::os {

bool membarrier_register() noexcept {
  if (const char* wish = std::getenv("FORKJOIN_MEMBARRIER"); wish && std::strcmp(wish, "0") == 0) return false;
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void membarrier() noexcept { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

}  // namespace fj::detail::os
