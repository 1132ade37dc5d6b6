#include "runtime/profile/start.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>

#include "runtime/os/ticks.hpp"
#include "runtime/profile/earlier_runs.hpp"
#include "runtime/profile/observer.hpp"
#include "runtime/profile/sites.hpp"
#include "runtime/profile/strands.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace profile {

const char link_with_forkjoin_profile = 0;

namespace {

constexpr double usual_theft_ns = 1000;
constexpr std::chrono::milliseconds rate_over(2);  // long enough for four digits

double measured_rate() noexcept {
  using clock = std::chrono::steady_clock;
  const clock::time_point begin_time = clock::now();
  const std::uint64_t begin = os::ticks();
  std::chrono::nanoseconds passed{};
  while ((passed = clock::now() - begin_time) < rate_over) {}
  return static_cast<double>(os::ticks() - begin) / static_cast<double>(passed.count());
}

double theft_ns() noexcept {
  const char* const text = std::getenv("FORKJOIN_PROFILE_THEFT_NS");
  const double given = text ? std::atof(text) : -1;
  return given >= 0 ? given : usual_theft_ns;
}

}  // namespace

void start() noexcept {
  static bool is_started = false;
  if (is_started) return;
  is_started = true;
  ticks_per_ns = measured_rate();
  theft_ticks = theft_ns() * ticks_per_ns;
  measure_costs();
  start_strands();
  load_earlier_runs();
  outside_of_forks.line = &outside_of_forks;
  for (strand_kind& kind : outside_of_forks.branch) add_kind(kind, outside_of_forks, 1);
  std::atexit(&report_at_exit);
}

}}}}  // namespace fj::v0_2::detail::profile
