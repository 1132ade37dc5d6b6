// SHA-1 of messages that fit one block: at most 55 bytes (FIPS 180-4).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace bench {

// The words of a digest or a message, each with its most significant byte first.
using sha1_digest = std::array<std::uint32_t, 5>;

template <std::size_t Words>
constexpr sha1_digest sha1(const std::array<std::uint32_t, Words>& message) {
  static_assert(Words <= 13, "longer messages take more than one block");
  constexpr sha1_digest start{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

  std::array<std::uint32_t, 16> w{};
  for (std::size_t i = 0; i < Words; ++i) w[i] = message[i];
  w[Words] = 0x80000000;
  w[15] = Words * 32;

  std::uint32_t a = start[0], b = start[1], c = start[2], d = start[3], e = start[4];
  const auto round = [&](int i, std::uint32_t mixed, std::uint32_t constant) {
    if (i >= 16) w[i % 16] = std::rotl(w[(i + 13) % 16] ^ w[(i + 8) % 16] ^ w[(i + 2) % 16] ^ w[i % 16], 1);
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + constant + w[i % 16];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  };
  for (int i = 0; i < 20; ++i) round(i, d ^ (b & (c ^ d)), 0x5a827999);
  for (int i = 20; i < 40; ++i) round(i, b ^ c ^ d, 0x6ed9eba1);
  for (int i = 40; i < 60; ++i) round(i, (b & c) | (d & (b | c)), 0x8f1bbcdc);
  for (int i = 60; i < 80; ++i) round(i, b ^ c ^ d, 0xca62c1d6);
  return {start[0] + a, start[1] + b, start[2] + c, start[3] + d, start[4] + e};
}

static_assert(sha1(std::array<std::uint32_t, 1>{0x61626364}) ==  // "abcd"
              sha1_digest{0x81fe8bfe, 0x87576c3e, 0xcb22426f, 0x8e578473, 0x82917acf});

}  // namespace bench
