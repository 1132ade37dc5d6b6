// C++26's senders, started by a thread outside of the runtime or pool: what one takes until sync_wait returns. The
// kinds of questions (harness/asked.hpp):
//
//   schedule    schedule(s) alone
//   bulk        schedule(s), then bulk over n floats; likewise bulk_chunked, bulk_unchunked
//   skewed      schedule(s), then bulk_chunked over n floats, the last tenth of which take fifty times as long each
//
// A team without senders runs the same as plain loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/harness/asked.hpp"

namespace bench {

/// Nanoseconds of a call; below zero if to[i] is not body(i) afterwards.
template <class Call, class Body>
double checked_ns_of(const Call& call, std::vector<float>& to, const Body& body) {
  std::fill(to.begin(), to.end(), -1.0F);
  const double ns = bench::ns_of(call);
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] != body(i)) return -1;
  }
  return ns;
}

/// team.schedule(); team.bulk(n, f) and team.bulk_unchunked(n, f) call f(i), team.bulk_chunked(n, f) f(begin, end).
template <class Team>
double sender_of(Team& team, const std::string& kind, std::size_t n) {
  if constexpr (requires { team.schedule(); }) {
    if (kind == "schedule") return bench::ns_of([&] { team.schedule(); });
  }
  static std::vector<float> from, to;
  from.resize(n);
  to.resize(n);
  for (std::size_t i = 0; i < n; ++i) from[i] = static_cast<float>(i % 7 + 1);
  const auto brief = [p = from.data()](std::size_t i) { return p[i] * 0.5F + 1; };
  const auto skewed = [p = from.data(), n](std::size_t i) {
    float x = p[i];
    for (int steps = i >= n - n / 10 ? 2000 : 40; steps > 0; --steps) x = x * 0.999F + 0.5F;
    return x;
  };
  const auto each = [t = to.data(), brief](std::size_t i) { t[i] = brief(i); };
  const auto in_chunks = [t = to.data()](const auto& body) {
    return [=](std::size_t begin, std::size_t end) {
      for (; begin < end; ++begin) t[begin] = body(begin);
    };
  };
  if (kind == "bulk") return checked_ns_of([&] { team.bulk(n, each); }, to, brief);
  if (kind == "bulk_unchunked") return checked_ns_of([&] { team.bulk_unchunked(n, each); }, to, brief);
  if (kind == "bulk_chunked") return checked_ns_of([&] { team.bulk_chunked(n, in_chunks(brief)); }, to, brief);
  if (kind == "skewed") return checked_ns_of([&] { team.bulk_chunked(n, in_chunks(skewed)); }, to, skewed);
  return -1;
}

}  // namespace bench
