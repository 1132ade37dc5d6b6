#include "runtime/wait/select.hpp"

#include "runtime/wait/maybe_yield.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

selection::result select_one(std::span<select_case* const> cases, std::span<select_place> places, bool waits,
                             const wait_limits& limits) {
  maybe_yield();
  return selection::one_of(cases, places, waits, limits);
}

}}}  // namespace fj::v0_2::detail
