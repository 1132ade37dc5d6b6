#include "runtime/os/modules.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

std::string modules() { return {}; }

}}}}  // namespace fj::v0_4::detail::os
