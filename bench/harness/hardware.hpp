// What the processor counts during a run: by perf_event_open of Linux, and the energy by RAPL. Where the machine does
// not count something, or does not let this process read it, there is no figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// Of this process and of threads that it starts later, in user code alone; the energy is the whole machine's.
class hardware_counters {
 public:
  /// Before the threads are started that are to be counted.
  hardware_counters();
  ~hardware_counters();
  hardware_counters(const hardware_counters&) = delete;
  hardware_counters& operator=(const hardware_counters&) = delete;

  void start() noexcept;
  void stop() noexcept;

  /// Those that could be read: instructions, cycles, cache_misses, migrations, and micro_joules. A counter that shared
  /// its place in the processor with others is scaled by its time.
  std::vector<std::pair<std::string_view, std::uint64_t>> read() const;

 private:
  struct counter {
    std::string_view name;
    int file;
  };
  std::vector<counter> counters_;
  std::optional<std::uint64_t> joules_before_, joules_;  // millionths
};

}  // namespace bench
