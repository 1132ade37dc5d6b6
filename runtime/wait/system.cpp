#include "runtime/wait/system.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

template wait_end wait_in(wait_queue& queue, std::unique_lock<os::mutex>& held, void* item, const wait_limits& limits);

}}}  // namespace fj::v0_2::detail
