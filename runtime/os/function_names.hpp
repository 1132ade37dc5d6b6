// What functions are called in messages.
#pragma once

#include <string>

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

/// A symbol as C++ writes it. Names of C, and of variables outside of all namespaces, are what they are: x would be read as a type. Throws
/// std::bad_alloc.
std::string demangled(const char* name);

/// What a reader calls a function, of its name as a symbol, as a tool or as std::source_location tells it: without its type, parameters and template
/// arguments; the second closure in main is main::λ2, or main::λ of a source_location, which does not count them. Where a tool tells no more than
/// operator(), it is "a closure". runtime/trace/tool/symbols.py and runtime/gdb/forkjoin-gdb.py have the same form:
/// test/process/symbol_names.txt is the test of all. Throws std::bad_alloc.
std::string name_of(const std::string& function);

}}}}  // namespace fj::v0_2::detail::os
