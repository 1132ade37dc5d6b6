#include "forkjoin/abi/os/instrumentation.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

const char FORKJOIN_BUILD = 0;

}}}}  // namespace fj::v0_4::detail::os
