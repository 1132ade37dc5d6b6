#include "runtime/profile/start.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <locale>
#include <sstream>

#include "forkjoin/abi/os/ticks.hpp"
#include "forkjoin/abi/profile.hpp"
#include "runtime/os/variable.hpp"
#include "runtime/profile/dag.hpp"
#include "runtime/profile/earlier_runs.hpp"
#include "runtime/profile/sites.hpp"
#include "runtime/profile/strands.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

const char link_with_forkjoin_profile = 0;

namespace {

constexpr double usual_theft_ns = 1000;
constexpr std::chrono::milliseconds rate_over(2);

/// The counter and the clock at one time.
struct both {
  double ticks = 0, ns = 0;
};

/// Of several readings the one that took least: another thread may have the CPU between two.
both read_both() noexcept {
  both best;
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i != 20; ++i) {
    const std::uint64_t begin = os::ticks_in_order();
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    const std::uint64_t end = os::ticks_in_order();
    if (static_cast<double>(end - begin) >= least) continue;
    least = static_cast<double>(end - begin);
    best = {static_cast<double>(begin) + least / 2, std::chrono::duration<double, std::nano>(time).count()};
  }
  return best;
}

double measured_rate() noexcept {
  const both begin = read_both();
  const auto until = std::chrono::steady_clock::now() + rate_over;
  while (std::chrono::steady_clock::now() < until) {}
  const both end = read_both();
  return (end.ticks - begin.ticks) / (end.ns - begin.ns);
}

double theft_ns() noexcept {
  const char* const text = os::variable("FORKJOIN_PROFILE_THEFT_NS");
  if (!text) return usual_theft_ns;
  // Not strtod, whose point is a comma if the program has chosen such a locale.
  std::istringstream number(text);
  number.imbue(std::locale::classic());
  double given = 0;
  return number >> given && number.peek() == std::istringstream::traits_type::eof() && given >= 0 ? given
                                                                                                  : usual_theft_ns;
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
  dag::start();
  outside_of_forks.line = &outside_of_forks;
  outside_of_forks.is_outside = true;
  for (strand_kind& kind : outside_of_forks.branch) add_kind(kind, outside_of_forks, 1, begin_at::branch);
  std::atexit(&report_at_exit);
}

}}}}  // namespace fj::v0_4::detail::profile
