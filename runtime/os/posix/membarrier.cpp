#include "runtime/os/membarrier.hpp"

#include <cstdlib>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

bool membarrier_register() noexcept { return false; }

void membarrier() noexcept { std::abort(); }

}}}}  // namespace fj::v0_4::detail::os
