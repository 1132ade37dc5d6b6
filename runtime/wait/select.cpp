#include "forkjoin/abi/select.hpp"

#include "forkjoin/abi/maybe_yield.hpp"
#include "runtime/wait/select_protocol.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

select_result select_one(std::span<select_case* const> cases, std::span<select_place> places, bool waits,
                         const wait_limits& limits) {
  maybe_yield();
  return selection::one_of(cases, places, waits, limits);
}

}}}  // namespace fj::v0_4::detail
