#include "forkjoin/abi/os/instrumentation.hpp"

namespace fj { inline namespace v0_3 { namespace detail { namespace os {

const char FORKJOIN_BUILD = 0;

}}}}  // namespace fj::v0_3::detail::os
