// What functions are called in messages.
#pragma once

#include <string>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// A symbol as C++ writes it. Names of C, and of variables outside of all namespaces, are what they are: x would be
/// read as a type. Throws std::bad_alloc.
std::string demangled(const char* name);

/// What a reader calls a function, of its name as a symbol, as a tool or as std::source_location has it: without its
/// type, parameters and template arguments. The second closure in main is main::λ2; where it has no number, as in a
/// source_location and where g++ has inlined it, it is main::λ. Where a tool says no more than operator(), it is "a
/// closure". runtime/trace/tool/symbols.py and runtime/gdb/forkjoin-gdb.py have the same form:
/// test/process/symbol_names.txt is the test of all. Throws std::bad_alloc.
std::string name_of(const std::string& function);

/// The type of the user's closure that a function is instantiated with, as in call<main()::<lambda()> >; empty if there
/// is none, or if there are several. Throws std::bad_alloc.
std::string closure_called_by(const std::string& function);

}}}}  // namespace fj::v0_4::detail::os
