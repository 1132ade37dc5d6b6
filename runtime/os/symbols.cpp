#include "runtime/os/symbols.hpp"

#include <elf.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/os/function_names.hpp"
#include "runtime/os/modules.hpp"
#include "runtime/os/variable.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

struct module_file {
  std::uintptr_t bias;
  std::string path;
};

struct symbol {
  std::uintptr_t begin;
  std::uintptr_t size;
  std::string name;
  bool is_variable;
};

std::vector<module_file> all_modules() {
  std::vector<module_file> all;
  const std::string text = modules();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at), space = text.find(' ', at);
    all.push_back({std::strtoull(text.c_str() + at, nullptr, 16), text.substr(space + 1, end - space - 1)});
    at = end + 1;
  }
  return all;
}

/// The module whose image begins closest below the address.
const module_file* module_of(const std::vector<module_file>& all, std::uintptr_t address) {
  const module_file* found = nullptr;
  for (const module_file& one : all)
    if (one.bias <= address && (!found || one.bias > found->bias)) found = &one;
  return found;
}

std::string contents(const std::string& path) {
  std::string text;
  std::FILE* const file = std::fopen(path.c_str(), "rbe");
  if (!file) return text;
  char part[65536];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, file)) != 0;) text.append(part, n);
  std::fclose(file);
  return text;
}

/// Copies a structure of the file, or false if the file is too short.
template <class T>
bool read(const std::string& file, std::size_t at, T& to) {
  if (at > file.size() || file.size() - at < sizeof to) return false;
  std::memcpy(&to, file.data() + at, sizeof to);
  return true;
}

/// Calls f(symbol, its name) for each one of the file.
template <class F>
void for_each_symbol(const std::string& file, F f) {
  Elf64_Ehdr header;
  if (!read(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return;
  for (std::size_t i = 0; i != header.e_shnum; ++i) {
    Elf64_Shdr section, names;
    if (!read(file, header.e_shoff + i * sizeof section, section)) break;
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (!read(file, header.e_shoff + section.sh_link * sizeof names, names)) continue;
    Elf64_Sym one;
    for (std::size_t at = 0; at + sizeof one <= section.sh_size && read(file, section.sh_offset + at, one);
         at += sizeof one) {
      const std::size_t name = names.sh_offset + one.st_name;
      if (name < file.size()) f(one, file.c_str() + name);
    }
  }
}

std::vector<symbol> symbols_of(const std::string& path) {
  std::vector<symbol> all;
  for_each_symbol(contents(path), [&](const Elf64_Sym& one, const char* name) {
    const auto type = ELF64_ST_TYPE(one.st_info);
    if ((type == STT_OBJECT || type == STT_FUNC) && one.st_shndx != SHN_UNDEF && one.st_value != 0)
      all.push_back({one.st_value, one.st_size, name, type == STT_OBJECT});
  });
  return all;
}

/// Whether the file has a symbol that begins so, and that another file defines.
bool asks_for(const std::string& file, const std::string& prefix) {
  bool found = false;
  for_each_symbol(file, [&](const Elf64_Sym& one, const char* name) {
    found = found || (one.st_shndx == SHN_UNDEF && std::strncmp(name, prefix.c_str(), prefix.size()) == 0);
  });
  return found;
}

const symbol* symbol_at(const std::vector<symbol>& all, std::uintptr_t address) {
  for (const symbol& one : all)
    if (address - one.begin < std::max<std::uintptr_t>(one.size, 1)) return &one;
  return nullptr;
}

const std::vector<symbol>& known_symbols(const std::string& path) {
  static auto& known = *new std::map<std::string, std::vector<symbol>>;
  const auto [at, is_new] = known.try_emplace(path);
  if (is_new) at->second = symbols_of(path);
  return at->second;
}

/// In quotes for the shell.
std::string quoted(const std::string& text) {
  std::string all = "'";
  for (const char c : text) c == '\'' ? all += "'\\''" : all += c;
  return all + "'";
}

/// A path without `folder/..`, as compilers have them that were called with one from another folder.
std::string without_detours(std::string path) {
  for (std::size_t up; (up = path.find("/../", 1)) != std::string::npos;) {
    const std::size_t begin = path.rfind('/', up - 1);
    const std::size_t from = begin == std::string::npos ? 0 : begin + 1;
    if (path.compare(from, up - from, "..") == 0) break;
    path.erase(from, up + 4 - from);
  }
  return path;
}

/// What the tool prints: for each address a line with it, and for each function that is inlined there two, its name and
/// file:line.
std::map<std::uintptr_t, std::vector<place>> asked(const std::string& path,
                                                   const std::vector<std::uintptr_t>& offsets) {
  std::map<std::uintptr_t, std::vector<place>> found;
  if (has_rights_of_others()) return found;  // PATH says which tool that is
  constexpr std::size_t at_once = 1000;
  for (std::size_t begin = 0; begin < offsets.size(); begin += at_once) {
    std::string arguments = quoted(path);
    for (std::size_t i = begin; i != std::min(offsets.size(), begin + at_once); ++i) {
      char number[24];
      std::snprintf(number, sizeof number, " 0x%llx", static_cast<unsigned long long>(offsets[i]));
      arguments += number;
    }
    // binutils' does not find all functions that clang has inlined.
    const std::string command = "{ llvm-symbolizer --output-style=GNU -afiC -e " + arguments +
                                " || llvm-symbolizer-19 --output-style=GNU -afiC -e " + arguments +
                                " || addr2line -afiC -e " + arguments + "; } 2>/dev/null";
    std::FILE* const pipe = popen(command.c_str(), "re");
    if (!pipe) return found;
    std::string text;
    char part[4096];
    for (std::size_t n; (n = std::fread(part, 1, sizeof part, pipe)) != 0;) text.append(part, n);
    pclose(pipe);
    std::vector<place>* of = nullptr;
    std::string function;
    bool has_function = false;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      if (line.compare(0, 2, "0x") == 0) {
        of = &found[std::strtoull(line.c_str(), nullptr, 16)];
        has_function = false;
      } else if (!of) {
        continue;
      } else if (!has_function) {
        function = line;
        has_function = true;
      } else {
        has_function = false;
        const std::size_t colon = line.rfind(':');
        place one{function, colon == std::string::npos ? std::string() : line.substr(0, colon), 0};
        if (colon != std::string::npos)
          one.line = static_cast<unsigned>(std::strtoul(line.c_str() + colon + 1, nullptr, 10));
        if (one.file == "??" || one.line == 0) one.file.clear();
        one.file = without_detours(one.file);
        if (function != "??") of->push_back(one);
      }
    }
  }
  return found;
}

/// Names closures that g++ has inlined, which have no name for linkers. llvm-symbolizer calls them operator(), and
/// addr2line calls the innermost by the symbol around it: that is also the last of the chain, or it is a function of
/// the library's at a line of the user's. The function that calls the closure has its type as a template argument.
void name_closures(std::vector<place>& chain) {
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    std::string& function = chain[i].function;
    const bool is_unnamed = function == "operator()" || function.starts_with("operator()<");
    const bool is_around =
        i == 0 && !is_of_library(chain[i].file) &&
        (function.find("fj::v0_4::") < function.find('<') || name_of(function) == name_of(chain.back().function));
    if (!is_unnamed && !is_around) continue;
    if (const std::string closure = closure_called_by(chain[i + 1].function); !closure.empty()) function = closure;
  }
}

/// An instruction that stands for several of the source has no line: finds that of one before it.
void add_near_lines(const std::string& path, std::map<std::uintptr_t, std::vector<place>>& found) {
  constexpr std::uintptr_t furthest = 64;
  std::vector<std::uintptr_t> before;
  for (const auto& [offset, chain] : found) {
    if (chain.empty() || !chain.front().file.empty()) continue;
    for (std::uintptr_t back = 1; back <= furthest && back < offset; ++back) before.push_back(offset - back);
  }
  const auto lines = asked(path, before);
  for (auto& [offset, chain] : found) {
    if (chain.empty() || !chain.front().file.empty()) continue;
    for (std::uintptr_t back = 1; back <= furthest && back < offset; ++back) {
      const auto at = lines.find(offset - back);
      if (at == lines.end() || at->second.empty() || at->second.back().function != chain.back().function) break;
      if (at->second.front().file.empty()) continue;
      chain = at->second;
      chain.front().is_near = true;
      break;
    }
  }
}

}  // namespace

std::vector<std::vector<place>> places_of(const std::vector<std::uintptr_t>& addresses) {
  const std::vector<module_file> all = all_modules();
  std::map<const module_file*, std::vector<std::uintptr_t>> offsets;
  for (const std::uintptr_t address : addresses)
    if (const module_file* const of = module_of(all, address)) offsets[of].push_back(address - of->bias);
  std::map<const module_file*, std::map<std::uintptr_t, std::vector<place>>> found;
  for (auto& [of, list] : offsets) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
    found[of] = asked(of->path, list);
    add_near_lines(of->path, found[of]);
    for (auto& [offset, chain] : found[of]) name_closures(chain);
  }
  std::vector<std::vector<place>> places;
  for (const std::uintptr_t address : addresses) {
    const module_file* const of = module_of(all, address);
    std::vector<place> those = of ? found[of][address - of->bias] : std::vector<place>();
    if (those.empty()) {
      const symbol* const named = of ? symbol_at(known_symbols(of->path), address - of->bias) : nullptr;
      char text[40];
      std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
      those.push_back({named ? demangled(named->name.c_str()) : text, "", 0});
    }
    places.push_back(std::move(those));
  }
  return places;
}

bool is_of_library(const std::string& file) {
  const auto is_in = [&](std::string_view folder) {
    const std::size_t at = file.rfind(folder);
    return at != std::string::npos && (at == 0 || file[at - 1] == '/') &&
           file.find('/', at + folder.size()) == std::string::npos;
  };
  using folders = std::initializer_list<const char*>;
  return (file.ends_with(".hpp") &&
          std::ranges::any_of(folders{"forkjoin/", "forkjoin/serial/", "forkjoin/profile/", "forkjoin/races/",
                                      "forkjoin/detail/", "forkjoin/loops/"},
                              is_in)) ||
         (file.ends_with("pp") &&
          std::ranges::any_of(folders{"runtime/profile/", "runtime/races/", "runtime/os/"}, is_in));
}

std::string current_folder() {
  char path[PATH_MAX];
  return getcwd(path, sizeof path) ? path : "";
}

std::optional<named_memory> variable_at(std::uintptr_t address) {
  const std::vector<module_file> all = all_modules();
  const module_file* const of = module_of(all, address);
  if (!of) return {};
  const symbol* const found = symbol_at(known_symbols(of->path), address - of->bias);
  if (!found || !found->is_variable) return {};
  const std::uintptr_t begin = of->bias + found->begin;
  return named_memory{begin, begin + std::max<std::uintptr_t>(found->size, 1), demangled(found->name.c_str())};
}

std::vector<std::string> libraries_without(const std::string& prefix) {
  std::vector<std::string> found;
  const std::vector<module_file> all = all_modules();
  for (const module_file& one : all) {
    const std::string name = one.path.substr(one.path.rfind('/') + 1);
    const bool is_of_system = std::ranges::any_of(
        std::initializer_list<const char*>{"linux-vdso.", "linux-gate.", "ld-linux", "libc.", "libm.", "libmvec.",
                                           "libdl.", "libpthread.", "librt.", "libgcc_s.", "libstdc++.", "libc++.",
                                           "libc++abi.", "libunwind.", "libatomic."},
        [&](const char* system) { return name.starts_with(system); });
    if (&one == &all.front() || is_of_system || one.path[0] != '/') continue;
    if (const std::string file = contents(one.path); !file.empty() && !asks_for(file, prefix))
      found.push_back(one.path);
  }
  return found;
}

}}}}  // namespace fj::v0_4::detail::os
