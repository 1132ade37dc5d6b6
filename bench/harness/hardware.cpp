#include "bench/harness/hardware.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace bench {

namespace {

// Migrations happen in the kernel, and are counted there.
int open_counter(std::uint32_t type, std::uint64_t event) noexcept {
  perf_event_attr what{};
  what.size = sizeof what;
  what.type = type;
  what.config = event;
  what.disabled = 1;
  what.inherit = 1;
  what.exclude_kernel = type == PERF_TYPE_HARDWARE;
  what.exclude_hv = 1;
  what.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

// Of all packages, with their memory if that is not part of them.
std::optional<std::uint64_t> micro_joules() {
  std::optional<std::uint64_t> all;
  std::error_code failed;
  for (const auto& zone : std::filesystem::directory_iterator("/sys/class/powercap", failed)) {
    // intel-rapl:0 is a package; intel-rapl:0:1 is a part of one. AMD's have the same names.
    const std::string name = zone.path().filename().string();
    if (!name.starts_with("intel-rapl:") || name.find(':') != name.rfind(':')) continue;
    std::ifstream in(zone.path() / "energy_uj");
    if (std::uint64_t one = 0; in >> one) all = all.value_or(0) + one;
  }
  return all;
}

}  // namespace

hardware_counters::hardware_counters() {
  const struct {
    std::string_view name;
    std::uint32_t type;
    std::uint64_t event;
  } wanted[] = {{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
                {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
                {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
                {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS}};
  for (const auto& [name, type, event] : wanted)
    if (const int file = open_counter(type, event); file >= 0) counters_.push_back({name, file});
}

hardware_counters::~hardware_counters() {
  for (const counter& one : counters_) close(one.file);
}

void hardware_counters::start() noexcept {
  joules_before_ = micro_joules();
  for (const counter& one : counters_) ioctl(one.file, PERF_EVENT_IOC_ENABLE, 0);
}

void hardware_counters::stop() noexcept {
  for (const counter& one : counters_) ioctl(one.file, PERF_EVENT_IOC_DISABLE, 0);
  const auto after = micro_joules();
  // The meter of a package begins again at some value: then there is no figure.
  if (after && joules_before_ && *after >= *joules_before_) joules_ = *after - *joules_before_;
}

std::vector<std::pair<std::string_view, std::uint64_t>> hardware_counters::read() const {
  std::vector<std::pair<std::string_view, std::uint64_t>> all;
  for (const counter& one : counters_) {
    std::uint64_t found[3] = {};  // what was counted, the time, and the time in which it was counted
    if (::read(one.file, found, sizeof found) != sizeof found || found[2] == 0) continue;
    const double part = static_cast<double>(found[1]) / static_cast<double>(found[2]);
    all.emplace_back(one.name, static_cast<std::uint64_t>(static_cast<double>(found[0]) * part));
  }
  if (joules_) all.emplace_back("micro_joules", *joules_);
  return all;
}

}  // namespace bench
