// The smallest rectangle that holds n cells, each in one of several shapes and beside a given earlier cell, by branch
// and bound, after the program `floorplan` of the Barcelona OpenMP Tasks Suite (Duran, Teruel, Ferrer, Martorell,
// Ayguade, ICPP 2009): a fork for each place of a cell, and in it the next cell, on a copy of the plan. A branch ends
// where the plan so far is no smaller than the best one. All strands share the best area, so the schedule decides which
// branches end; the result does not depend on it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "bench/harness/work.hpp"

namespace bench::floorplan {

inline constexpr std::size_t most_cells = 20;
inline constexpr std::size_t shapes = 3;

struct shape {
  int width, height;
};

struct cell {
  std::array<shape, shapes> alternatives;
  std::size_t neighbour;  // an earlier cell, which it touches
  bool below;             // else to the right of it
};

struct rectangle {
  short left, top, right, bottom;

  bool overlaps(const rectangle& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// The first cells in their places. Places begin at 0.
struct plan {
  std::array<rectangle, most_cells> placed;
  int width, height;

  int area() const { return width * height; }
};

/// How many places beside its neighbour a cell has in each of its shapes, the forbidden ones included.
inline int places(const cell& next, const plan& so_far) {
  const rectangle& by = so_far.placed[next.neighbour];
  int count = 0;
  for (const shape& s : next.alternatives) {
    count += next.below ? by.right - by.left + s.width - 1 : by.bottom - by.top + s.height - 1;
  }
  return count;
}

/// That place; false if it is forbidden. `width` and `height` become those of the plan with it.
inline bool place(const cell& next, std::size_t index, int number, const plan& so_far, rectangle& out, int& width,
                  int& height) {
  const rectangle& by = so_far.placed[next.neighbour];
  for (const shape& s : next.alternatives) {
    const int count = next.below ? by.right - by.left + s.width - 1 : by.bottom - by.top + s.height - 1;
    if (number >= count) {
      number -= count;
      continue;
    }
    const int left = next.below ? by.left - s.width + 1 + number : by.right;
    const int top = next.below ? by.bottom : by.top - s.height + 1 + number;
    if (left < 0 || top < 0) return false;
    out = {static_cast<short>(left), static_cast<short>(top), static_cast<short>(left + s.width),
           static_cast<short>(top + s.height)};
    for (std::size_t i = 0; i < index; ++i) {
      if (out.overlaps(so_far.placed[i])) return false;
    }
    width = std::max(so_far.width, int{out.right});
    height = std::max(so_far.height, int{out.bottom});
    return true;
  }
  return false;
}

/// The least area so far. Relaxed: to read an old value costs some branches more. The joins order the result.
class shared_least {
 public:
  int get() const { return value_.load(std::memory_order_relaxed); }
  void lower(int value) {
    int now = get();
    while (value < now && !value_.compare_exchange_weak(now, value, std::memory_order_relaxed)) {}
  }

 private:
  std::atomic<int> value_ = 1 << 30;
};

/// The same for one thread.
class private_least {
 public:
  int get() const { return value_; }
  void lower(int value) { value_ = std::min(value_, value); }

 private:
  int value_ = 1 << 30;
};

/// Places the cells from `index` on. Returns the number of places tried.
template <class Way, class Least>
long search(const std::vector<cell>& cells, std::size_t index, const plan& so_far, Least& least) {
  if (index == cells.size()) {
    least.lower(so_far.area());
    return 0;
  }
  const cell& next = cells[index];
  const int count = places(next, so_far);
  return Way::children(count, long{count}, [&, index](int number) -> long {
    if constexpr (counts_work<Way>) Way::work(unit::floorplan_place, 1);
    rectangle at;
    int width, height;
    if (!place(next, index, number, so_far, at, width, height) || width * height >= least.get()) return 0;
    plan longer = so_far;
    longer.placed[index] = at;
    longer.width = width;
    longer.height = height;
    return search<Way>(cells, index + 1, longer, least);
  });
}

/// The first cell in this shape, at 0.
inline plan first_plan(const shape& s) {
  plan begun{};
  begun.placed[0] = {0, 0, static_cast<short>(s.width), static_cast<short>(s.height)};
  begun.width = s.width;
  begun.height = s.height;
  return begun;
}

template <class Way>
int smallest_area(const std::vector<cell>& cells) {
  std::conditional_t<Way::is_serial, private_least, shared_least> least;
  for (const shape& s : cells[0].alternatives) search<Way>(cells, 1, first_plan(s), least);
  return least.get();
}

}  // namespace bench::floorplan
