// The maximal independent set that a greedy program finds that takes the vertices by random priority. In rounds: a
// vertex that comes before all of its undecided neighbours is in the set, its neighbours are out. Blelloch, Fineman and
// Shun, "Greedy sequential maximal independent set and matching are parallel on average", 2012.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "bench/kernels/common/graph.hpp"

namespace bench::mis {

enum class state : std::uint8_t { undecided, in, out };

/// Whether a comes before b.
inline bool before(int a, int b) {
  const std::uint64_t x = random_at(static_cast<std::uint64_t>(a)), y = random_at(static_cast<std::uint64_t>(b));
  return x < y || (x == y && a < b);
}

/// `left` and `next` have room for all vertices.
template <class Way>
void find(const graph& g, state* states, int* left, int* next) {
  const int* const begins = g.begins();
  const int* const neighbours = g.neighbours();
  Way::each(g.vertices(), [=](long v) {
    states[v] = state::undecided;
    left[v] = static_cast<int>(v);
  });
  for (long n = g.vertices(); n > 0; std::swap(left, next)) {
    // relaxed: a vertex that another strand decides meanwhile may be seen either way, as neighbours of the undecided
    // are never in.
    Way::each(n, [=](long i) {
      const int v = left[i];
      state now = state::in;
      for (int e = begins[v]; e != begins[v + 1]; ++e) {
        const int other = neighbours[e];
        const state its = std::atomic_ref(states[other]).load(std::memory_order_relaxed);
        if (its == state::in) {
          now = state::out;
          break;
        }
        if (its == state::undecided && before(other, v)) now = state::undecided;
      }
      if (now != state::undecided) std::atomic_ref(states[v]).store(now, std::memory_order_relaxed);
    });
    n = Way::pack(left, n, next, [=](int v) { return states[v] == state::undecided; });
  }
}

/// As one writes it by hand, with the vertices in the order of their priority.
inline void find_serially(const graph& g, const int* by_priority, state* states) {
  for (long v = 0; v != g.vertices(); ++v) states[v] = state::undecided;
  for (long i = 0; i != g.vertices(); ++i) {
    const int v = by_priority[i];
    if (states[v] != state::undecided) continue;
    states[v] = state::in;
    for (const int other : g.neighbours_of(v)) states[other] = state::out;
  }
}

}  // namespace bench::mis
