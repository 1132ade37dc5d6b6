#include "runtime/os/instrumentation.hpp"

namespace fj::detail::os {

const char FORKJOIN_BUILD = 0;

}  // namespace fj::detail::os
