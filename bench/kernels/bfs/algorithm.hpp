// Breadth-first search, frontier by frontier: the neighbours of a frontier are laid out by a scan of its degrees, the
// vertices that are new claim themselves by compare-and-swap, and a filter leaves the next frontier. As in the Problem
// Based Benchmark Suite (Shun and others, "Brief announcement: the problem based benchmark suite", 2012).
#pragma once

#include <atomic>

#include "bench/kernels/common/graph.hpp"

namespace bench::bfs {

/// Room for a search: `frontier`, `degrees` and `places` for all vertices, `reached` for all ends of edges.
struct buffers {
  int *frontier, *degrees, *places, *reached;
};

/// Stores for each vertex its parent in a tree of shortest paths, and its distance from `source`; -1: not reached.
template <class Way>
void search(const graph& g, int source, int* parent, int* distance, const buffers& room) {
  const auto [frontier, degrees, places, reached] = room;
  const int* const begins = g.begins();
  const int* const neighbours = g.neighbours();
  Way::each(g.vertices(), [=](long v) { parent[v] = distance[v] = -1; });
  parent[source] = source;
  distance[source] = 0;
  frontier[0] = source;
  int level = 1;
  for (long n = 1; n > 0; ++level) {
    Way::each(n, [=](long i) { degrees[i] = begins[frontier[i] + 1] - begins[frontier[i]]; });
    const long all = Way::scan(degrees, n, places);
    Way::each(n, [=](long i) {
      const int from = frontier[i];
      int* to = reached + places[i];
      for (int e = begins[from]; e != begins[from + 1]; ++e, ++to) {
        const int v = neighbours[e];
        const std::atomic_ref<int> claim(parent[v]);
        int none = -1;
        // relaxed: the loop's end orders the rest
        if (claim.load(std::memory_order_relaxed) == -1 &&
            claim.compare_exchange_strong(none, from, std::memory_order_relaxed)) {
          distance[v] = level;
          *to = v;
        } else {
          *to = -1;
        }
      }
    });
    n = Way::pack(reached, all, frontier, [](int v) { return v >= 0; });
  }
}

/// As one writes it by hand: the frontiers are one queue.
inline void search_serially(const graph& g, int source, int* parent, int* distance, int* queue) {
  for (long v = 0; v != g.vertices(); ++v) parent[v] = distance[v] = -1;
  parent[source] = source;
  distance[source] = 0;
  queue[0] = source;
  long end = 1;
  for (long at = 0; at != end; ++at) {
    const int from = queue[at];
    for (const int v : g.neighbours_of(from)) {
      if (parent[v] != -1) continue;
      parent[v] = from;
      distance[v] = distance[from] + 1;
      queue[end++] = v;
    }
  }
}

}  // namespace bench::bfs
