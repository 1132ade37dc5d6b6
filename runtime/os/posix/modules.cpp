#include "runtime/os/modules.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

std::string modules() { return {}; }

}}}}  // namespace fj::v0_2::detail::os
