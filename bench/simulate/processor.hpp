// A processor of a simulation and the worker that holds it, which are one here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "bench/simulate/simulator.hpp"
#include "bench/simulate/strand.hpp"
#include "runtime/base/cache_line.hpp"
#include "runtime/base/counters.hpp"
#include "runtime/base/random.hpp"
#include "runtime/os/pages.hpp"

namespace simulate {

/// The library's deque with its slots behind it, in pages that are not touched before they are used.
class deque_in_pages {
 public:
  explicit deque_in_pages(deque::index capacity)
      : bytes_(fj::detail::os::round_to_pages(sizeof(deque) + capacity * sizeof(deque::slot))) {
    std::byte* const memory = fj::detail::os::reserve_pages(bytes_);
    if (!memory) throw std::bad_alloc();
    deque_ = new (memory) deque(capacity, false);
  }
  ~deque_in_pages() { fj::detail::os::release_pages(reinterpret_cast<std::byte*>(deque_), bytes_); }
  deque_in_pages(const deque_in_pages&) = delete;
  deque_in_pages& operator=(const deque_in_pages&) = delete;

  deque& operator*() const noexcept { return *deque_; }
  deque* operator->() const noexcept { return deque_; }

 private:
  std::size_t bytes_;
  deque* deque_;
};

enum class doing : std::uint8_t {
  running,         ///< a strand
  starting,        ///< begins to look for work
  pausing,         ///< waits before it looks, as what it stole last was short
  waiting,         ///< for its turn to look
  looking,         ///< looks around, one deque at a time
  looking_on_top,  ///< the same for a strand that waits for its child
  exposing,        ///< in the heavy fence
  giving_up,       ///< about to park
  parking,         ///< in the heavy fence before it sleeps
  sleeping,
  held_up  ///< its pop waits for a thief that exposes its records
};

struct processor {
  processor(unsigned number, std::uint64_t seed, deque::index capacity)
      : index(number), dice(random_at(seed) + number), active(capacity) {}

  const unsigned index;
  picoseconds clock = 0;
  doing now = doing::sleeping;
  bool spinning = false;  // counted as looking for work
  bool woken = false;     // while it was parking
  unsigned stacks = 0;    // it has at hand, for what it steals next
  unsigned tick = 0;
  picoseconds stolen_at = -short_work_time - 1;  // when it stole last, on a stack of its own
  picoseconds published_at = 0;                  // when it last made records public
  fiber* running = nullptr;
  fj::detail::random dice;
  deque_in_pages active;

  // While it looks around.
  unsigned at = 0, step = 0, visited = 0;
  bool seen = false;
  unsigned rounds = 0;
  picoseconds nothing_since = 0, something_since = 0;
  std::vector<processor*> begun;  // whose deques it exposes

  fj::counters count;
  picoseconds worked = 0;
};

}  // namespace simulate
