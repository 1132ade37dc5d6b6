#include "runtime/wait/select.hpp"

#include <cstdint>

#include "runtime/base/random.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/sched/worker.hpp"
#include "runtime/wait/maybe_yield.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

namespace {

// Apart, because strands that share a thread must not share the variable that says whether these have been made.
[[gnu::noinline]] random& dice_of_thread() noexcept {
  thread_local random outside(reinterpret_cast<std::uintptr_t>(&outside));
  return outside;
}

}  // namespace

unsigned wait_system::random_below(unsigned n) noexcept {
  worker* const m = current_worker();
  return (m ? m->dice : dice_of_thread()).below(n);
}

selected select_one(std::span<select_case* const> cases, std::span<select_place> places, bool waits,
                    const wait_limits& limits) {
  maybe_yield();
  return basic_select<wait_system>::one_of(cases, places, waits, limits);
}

}}}  // namespace fj::v0_2::detail
