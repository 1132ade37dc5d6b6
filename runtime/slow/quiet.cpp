#include "runtime/slow/quiet.hpp"

#include "runtime/fork/current.hpp"
#include "runtime/os/context/context.hpp"
#include "runtime/slow/watched.hpp"
#include "runtime/workers/scheduler.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

bool is_watched_slow(const record& newest) noexcept {
  const deque& d = current_deque();
  if (&d == &outside) return false;
  worker& m = *current_worker();
  return basic_watched<system>::by_any(m, d, newest) && !os::handled_exception(*m.exceptions);
}

}}}  // namespace fj::v0_2::detail
