// What addresses of a process are called: by its files' symbols, and by llvm-symbolizer or addr2line where one is installed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

/// A place in the program's text. file is empty if it is not known.
struct place {
  std::string function;
  std::string file;
  unsigned line = 0;
  bool is_near = false;  // the compiler gave the instruction no line, as it stands for several: that of the one before it
};

/// The places of these addresses of code; of each the functions that are inlined there, the innermost first. Throws std::bad_alloc.
std::vector<std::vector<place>> places_of(const std::vector<std::uintptr_t>& addresses);

/// The name of the variable at this address, as "name" or "name+8"; empty if it is none with a name. Throws std::bad_alloc.
std::string variable_at(std::uintptr_t address);

/// The file that this address is of; empty if it is of none. Throws std::bad_alloc.
std::string module_at(std::uintptr_t address);

}}}}  // namespace fj::v0_2::detail::os
