// The settings of a scheduler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fj { inline namespace v0_4 { namespace detail {

/// As fj::options, with every default resolved and every value checked (runtime/environment.hpp).
struct settings {
  unsigned procs = 1;
  unsigned max_workers = 1;
  std::size_t stack_size = 0;
  std::size_t go_stack_size = 0;
  bool steal_every_fork = false;
  bool thread_order = false;
  std::uint64_t chaos = 0;
  bool eager = false;      ///< everything is public at once: each push and pop fences
  bool by_signal = false;  ///< the heavy fence is a signal to each thread, for want of membarrier
  bool follows = false;    ///< the P in use follow the affinity mask and the quota
  std::string topology{};  ///< the folder above /sys, by which thieves look at near Ps first; empty: they do not
  bool in_turns = false;   ///< its threads take turns, and so does each that calls it
  void (*on_worker_start)(unsigned worker) = nullptr;
  void (*on_worker_stop)(unsigned worker) = nullptr;
};

}}}  // namespace fj::v0_4::detail
