// The threads that a runtime starts for itself.
#pragma once

namespace fj { inline namespace v0_2 { namespace detail {

/// The life of a worker's own thread: wait for a P, run what there is, park.
void thread_main(void* worker) noexcept;

}}}  // namespace fj::v0_2::detail
