// The common part of the command lines of a kernel's programs.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace bench {

inline std::optional<long> parse_number(std::string_view text, long smallest, long largest) {
  long value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value < smallest || value > largest) return std::nullopt;
  return value;
}

// Parses numbers from 1 up with commas between them. Anything else gives no numbers.
inline std::vector<int> parse_procs(std::string_view text) {
  std::vector<int> procs;
  while (true) {
    const auto comma = text.find(',');
    const auto p = parse_number(text.substr(0, comma), 1, 4096);
    if (!p) return {};
    procs.push_back(static_cast<int>(*p));
    if (comma == text.npos) return procs;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace bench
