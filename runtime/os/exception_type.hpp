// What kind of exception it is.
#pragma once

#include <string>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// The type of the exception that is being handled, as in a program's text. Throws std::bad_alloc.
std::string type_of_exception();

}}}}  // namespace fj::v0_4::detail::os
