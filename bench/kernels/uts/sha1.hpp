// SHA-1 of messages that fit one block: at most 55 bytes (FIPS 180-4).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace bench {

// The words of a digest or a message, each with its most significant byte first.
using sha1_digest = std::array<std::uint32_t, 5>;

// Not inlined, and written out round by round: each way of the kernel got other code of a loop. By g++ 12 OpenMP's took
// 0.4 s for T1, oneTBB's 0.8, and the serial program 0.6, before any fork.
template <std::size_t Words>
[[gnu::noinline]] constexpr sha1_digest sha1(const std::array<std::uint32_t, Words>& message) {
  static_assert(Words <= 13, "longer messages take more than one block");
  constexpr sha1_digest start{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

  std::array<std::uint32_t, 16> w{};
  for (std::size_t i = 0; i < Words; ++i) w[i] = message[i];
  w[Words] = 0x80000000;
  w[15] = Words * 32;

  std::uint32_t a = start[0], b = start[1], c = start[2], d = start[3], e = start[4];
  const auto round = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) __attribute__((always_inline)) {
    if constexpr (I >= 16) w[I % 16] = std::rotl(w[(I + 13) % 16] ^ w[(I + 8) % 16] ^ w[(I + 2) % 16] ^ w[I % 16], 1);
    std::uint32_t mixed = b ^ c ^ d, constant = I < 40 ? 0x6ed9eba1 : 0xca62c1d6;
    if constexpr (I < 20) {
      mixed = d ^ (b & (c ^ d));
      constant = 0x5a827999;
    } else if constexpr (I >= 40 && I < 60) {
      mixed = (b & c) + (d & (b ^ c));
      constant = 0x8f1bbcdc;
    }
    const std::uint32_t next = (w[I % 16] + constant + e) + mixed + std::rotl(a, 5);
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (round(std::integral_constant<std::size_t, I>()), ...);
  }(std::make_index_sequence<80>());
  return {start[0] + a, start[1] + b, start[2] + c, start[3] + d, start[4] + e};
}

static_assert(sha1(std::array<std::uint32_t, 1>{0x61626364}) ==  // "abcd"
              sha1_digest{0x81fe8bfe, 0x87576c3e, 0xcb22426f, 0x8e578473, 0x82917acf});

}  // namespace bench
