#include "runtime/os/copy_of_process.hpp"

#include <sys/mman.h>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

int make_nameless_file() noexcept { return memfd_create("forkjoin", MFD_CLOEXEC); }

}}}}  // namespace fj::v0_4::detail::os
