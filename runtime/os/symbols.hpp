// What addresses of a process are called: by its files' symbols, and by llvm-symbolizer or addr2line where one is
// installed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// A place in the program's text. file is empty if it is not known.
struct place {
  std::string function;
  std::string file;
  unsigned line = 0;
  // The compiler gave the instruction no line, as it stands for several: that of the one before it.
  bool is_near = false;
};

/// The places of these addresses of code; of each the functions that are inlined there, the innermost first. Throws
/// std::bad_alloc.
std::vector<std::vector<place>> places_of(const std::vector<std::uintptr_t>& addresses);

/// Whether a file is one of this library's that code of a program may come from: a header of forkjoin/, where it has no
/// sources, so that a program's own folder may have that name, or a file of the tools' part of runtime/.
bool is_of_library(const std::string& file);

/// The folder in which the process runs; empty if that is not known. Throws std::bad_alloc.
std::string current_folder();

/// A variable of a file: where it lies in [begin, end), and its name.
struct named_memory {
  std::uintptr_t begin, end;
  std::string name;
};

/// The variable at this address; none if it has no name. Throws std::bad_alloc.
std::optional<named_memory> variable_at(std::uintptr_t address);

/// The files of the process's shared libraries that ask for no symbol that begins so. Not those of the languages and of
/// the system. Throws std::bad_alloc.
std::vector<std::string> libraries_without(const std::string& prefix);

}}}}  // namespace fj::v0_4::detail::os
