#include "forkjoin/abi/sleep.hpp"

#include <algorithm>

namespace fj { inline namespace v0_4 { namespace detail {

wait_end sleep_until(std::int64_t at, const wait_limits& limits) {
  waiter here({.until = std::min(at, limits.until), .stop = limits.stop, .place = limits.place});
  const wait_end end = waiter::end_by(here.wait());
  return end == wait_end::timed_out && at <= limits.until ? wait_end::served : end;
}

}}}  // namespace fj::v0_4::detail
