#include "runtime/os/function_names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

/// Behind the bracket that opens here.
std::size_t behind_bracket(const std::string& text, std::size_t at) {
  int depth = 0;
  for (; at != text.size(); ++at) {
    const char c = text[at];
    depth += c == '(' || c == '<' || c == '{' || c == '[';
    depth -= c == ')' || (c == '>' && (at == 0 || text[at - 1] != '-')) || c == '}' || c == ']';
    if (depth == 0) return at + 1;
  }
  return at;
}

/// Whether a template's argument is the type of a closure of the user's, as in main()::<lambda(int)>.
bool is_closure(const std::string& type) {
  for (std::size_t at = 0; (at = type.find("<lambda(", at)) != std::string::npos; ++at)
    if (behind_bracket(type, at) == type.size()) return !type.starts_with("fj::");
  return false;
}

/// The closure that is named here, {lambda(int)#2} or 'lambda0'(int) or $_1; `at` is then behind it.
std::string closure_at(const std::string& text, std::size_t& at) {
  unsigned long number = 0;
  if (text[at] == '{') {
    const std::size_t end = behind_bracket(text, at), sign = text.rfind('#', end);
    number = sign == std::string::npos ? 1 : std::strtoul(text.c_str() + sign + 1, nullptr, 10);
    at = end;
  } else {
    const bool is_quoted = text[at] == '\'';
    const std::size_t digits = at + std::strlen(is_quoted ? "'lambda" : "$_");
    at = std::min(text.find_first_not_of("0123456789", digits), text.size());
    const bool has_digits = at != digits;
    number = std::strtoul(text.c_str() + digits, nullptr, 10) + (is_quoted && has_digits ? 2 : 1);
    if (is_quoted && at != text.size()) ++at;  // the second quote
  }
  return "λ" + std::to_string(number);
}

/// Whether the name ends with a closure and two colons, as before its operator().
bool ends_with_closure(const std::string& name) {
  if (!name.ends_with("::")) return false;
  const std::size_t last = name.find_last_not_of("0123456789", name.size() - 3);
  return last != std::string::npos && std::string_view(name).substr(0, last + 1).ends_with("λ");
}

/// Whether the & there says for which objects a member function is.
bool is_of_reference(const std::string& text, std::size_t at) {
  if (text.compare(at, 2, " &") != 0) return false;
  const std::size_t next = text.find_first_not_of(" &", at);
  return next == std::string::npos || text[next] == ':' || text[next] == '[';
}

/// Of a name that the demangler leaves as it is: the function's own name.
std::string without_arguments(const std::string& name) {
  std::size_t at = std::min(name.find_first_not_of("NKVRO", 2), name.size());
  std::string text;
  while (at < name.size() && name[at] >= '0' && name[at] <= '9') {
    const std::size_t begin = name.find_first_not_of("0123456789", at);
    const std::size_t length = std::strtoull(name.c_str() + at, nullptr, 10);
    if (begin == std::string::npos || length > name.size() - begin) break;
    text += (text.empty() ? "" : "::") + name.substr(begin, length);
    at = begin + length;
  }
  return text.empty() ? name : text;
}

}  // namespace

/// Names of C, and of variables outside of all namespaces, are what they are: x would be read as a type.
std::string demangled(const char* name) {
  if (std::strncmp(name, "_Z", 2) != 0) return name;
  int status = 0;
  char* const plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string text = plain ? plain : name;
  std::free(plain);
  return text;
}

std::string name_of(const std::string& function) {
  if (function == "operator()") return "a closure";
  std::string text = demangled(function.c_str());
  for (const char* const begin :
       {"_GLOBAL__sub_I_", "__static_initialization_and_destruction_", "__cxx_global_var_init"})
    if (text.starts_with(begin)) return "a static initialiser";
  if (text.starts_with("_Z")) return without_arguments(text);
  for (const std::string_view unnamed : {"(anonymous namespace)::", "{anonymous}::"})
    for (std::size_t at; (at = text.find(unnamed)) != std::string::npos;) text.erase(at, unnamed.size());
  std::string name;
  for (std::size_t i = 0; i != text.size();) {
    const auto has = [&](std::string_view what) { return text.compare(i, what.size(), what) == 0; };
    if (has("operator") && (i == 0 || text[i - 1] == ':' || text[i - 1] == ' ')) {
      const std::size_t begin = std::exchange(i, i + 8);
      if (has("()")) {
        i += 2;
        if (ends_with_closure(name)) {
          name.resize(name.size() - 2);
          continue;
        }
      } else if (has(" ")) {
        i = std::min(text.find('(', i), text.size());
      } else {
        i = std::min(text.find_first_not_of("<>=!+-*/%&|^~[],", i), text.size());
      }
      name += text.substr(begin, i - begin);
      if (has(" <")) ++i;
    } else if (has("{lambda(") || has("'lambda") || has("$_")) {
      name += closure_at(text, i);
    } else if (has("<lambda(") || has("(anonymous class)::operator()(")) {
      name += "λ";
      i = behind_bracket(text, i);
    } else if (has("<unnamed ") || has("(anonymous ") || has("{unnamed ")) {
      name += "unnamed";
      i = behind_bracket(text, i);
    } else if (has("(") || has("<") || has("[")) {
      i = behind_bracket(text, i);
    } else if (has(" const") || has(" volatile") || has(" noexcept") || has(" mutable")) {
      i = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", i + 1), text.size());
    } else if (has(" [") || has(" (.") || has(" requires ")) {
      break;  // of which copy it is, or with which types
    } else if (is_of_reference(text, i)) {
      i = std::min(text.find_first_not_of(" &", i), text.size());
    } else if (has(" ") || has("*") || has("&")) {
      name.clear();  // the type
      ++i;
    } else {
      name += text[i++];
    }
  }
  return name.empty() ? function : name;  // of one whose result is a pointer to a function, nothing is left
}

std::string closure_called_by(const std::string& function) {
  std::string found;
  const std::size_t open = function.find('<');
  if (open == std::string::npos) return found;
  const std::size_t end = behind_bracket(function, open) - 1;
  for (std::size_t begin = open + 1; begin < end;) {
    std::size_t at = begin;
    while (at < end && function[at] != ',')
      at =
          std::string_view("(<{[").find(function[at]) != std::string_view::npos ? behind_bracket(function, at) : at + 1;
    std::string type = function.substr(begin, at - begin);
    type.erase(type.find_last_not_of(" &") + 1);
    begin = std::min(function.find_first_not_of(", ", at), end);
    if (!is_closure(type) || type == found) continue;
    if (!found.empty()) return "";
    found = type;
  }
  return found;
}

}}}}  // namespace fj::v0_4::detail::os
