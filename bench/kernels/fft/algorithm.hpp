// The discrete Fourier transform of 2^k complex numbers by Cooley and Tukey's recursion (1965), out of place: even and
// odd halves in parallel, then butterflies, which are split in halves, too.
#pragma once

#include <bit>
#include <complex>
#include <cstddef>

#include "bench/harness/work.hpp"

namespace bench::fft {

using number = std::complex<double>;

inline constexpr std::size_t leaf_size = 32;          // transformed serially
inline constexpr std::size_t leaf_butterflies = 512;  // likewise

/// As std::complex, but without its treatment of infinities, which would keep compilers from making vector code.
inline number product(number a, number b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Butterflies [first, last) of half: out holds the transforms of the even and of the odd inputs.
inline void combine_leaf(std::size_t first, std::size_t last, std::size_t half, const number* roots, number* out) {
  for (std::size_t k = first; k < last; ++k) {
    const number even = out[k];
    const number odd = product(roots[k], out[k + half]);
    out[k] = even + odd;
    out[k + half] = even - odd;
  }
}

template <class Way>
void combine(std::size_t first, std::size_t last, std::size_t half, const number* roots, number* out) {
  if (last - first <= leaf_butterflies) {
    if constexpr (counts_work<Way>) Way::work(unit::fft_butterfly, last - first);
    return combine_leaf(first, last, half, roots, out);
  }
  const std::size_t middle = first + (last - first) / 2;
  Way::fork([=] { combine<Way>(first, middle, half, roots, out); },
            [=] { combine<Way>(middle, last, half, roots, out); });
}

/// The recursion below the cut-off, its lengths known to the compiler.
template <std::size_t n>
void transform_leaf(const number* in, std::size_t stride, const number* roots, number* out) {
  if constexpr (n == 1) {
    out[0] = in[0];
  } else {
    transform_leaf<n / 2>(in, 2 * stride, roots, out);
    transform_leaf<n / 2>(in + stride, 2 * stride, roots, out + n / 2);
    combine_leaf(0, n / 2, n / 2, roots + n / 2, out);
  }
}

/// out[0..n) = the transform of in[0], in[stride], ..., for n from leaf_size up. The roots of a transform of n are at
/// roots[n/2 ... n): roots[n/2 + k] = e^(-2 pi i k / n).
template <class Way>
void transform(std::size_t n, const number* in, std::size_t stride, const number* roots, number* out) {
  if (n == leaf_size) {
    if constexpr (counts_work<Way>) Way::work(unit::fft_butterfly, n / 2 * std::countr_zero(n));
    return transform_leaf<leaf_size>(in, stride, roots, out);
  }
  const std::size_t half = n / 2;
  Way::fork([=] { transform<Way>(half, in, 2 * stride, roots, out); },
            [=] { transform<Way>(half, in + stride, 2 * stride, roots, out + half); });
  combine<Way>(0, half, half, roots + half, out);
}

}  // namespace bench::fft
