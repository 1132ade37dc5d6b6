// The files that a process is made of.
#pragma once

#include <string>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// A line for each module, the program first, then its shared libraries: by how much its addresses in memory are above
/// those in its file, in hexadecimal, and the path of the file. Throws std::bad_alloc.
std::string modules();

}}}}  // namespace fj::v0_4::detail::os
