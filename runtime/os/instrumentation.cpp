#include "runtime/os/instrumentation.hpp"

namespace fj::inline v0_1::detail::os {

const char FORKJOIN_BUILD = 0;

}  // namespace fj::inline v0_1::detail::os
