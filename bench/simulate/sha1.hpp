// SHA-1 of the 20 or 24 bytes that the splittable random numbers of UTS are made of. FIPS 180-4; checked against the
// counts of the benchmark's own trees.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace simulate {

using sha1_state = std::array<std::uint32_t, 5>;

/// The digest of a message of less than 14 words, which stand at the front of `w`, as big-endian numbers.
inline sha1_state sha1_of_words(std::array<std::uint32_t, 80>& w, std::uint32_t words) noexcept {
  w[words] = 0x80000000u;  // the end of the message, then zeros, then its length in bits
  w[15] = words * 32;
  for (std::size_t i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  constexpr sha1_state start = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
  auto [a, b, c, d, e] = start;
  for (std::size_t i = 0; i < 80; ++i) {
    std::uint32_t f = 0, k = 0;
    if (i < 20) {
      f = (b & c) | (~b & d), k = 0x5a827999u;
    } else if (i < 40) {
      f = b ^ c ^ d, k = 0x6ed9eba1u;
    } else if (i < 60) {
      f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdcu;
    } else {
      f = b ^ c ^ d, k = 0xca62c1d6u;
    }
    const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  }
  return {start[0] + a, start[1] + b, start[2] + c, start[3] + d, start[4] + e};
}

inline sha1_state sha1_of_20_bytes(const sha1_state& words) noexcept {
  std::array<std::uint32_t, 80> w{words[0], words[1], words[2], words[3], words[4]};
  return sha1_of_words(w, 5);
}

inline sha1_state sha1(const sha1_state& words, std::uint32_t number) noexcept {
  std::array<std::uint32_t, 80> w{words[0], words[1], words[2], words[3], words[4], number};
  return sha1_of_words(w, 6);
}

}  // namespace simulate
