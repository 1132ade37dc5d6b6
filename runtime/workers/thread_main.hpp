// The threads that a runtime starts for itself.
#pragma once

namespace fj::inline v0_1::detail {

/// The life of a worker's own thread: wait for a P, run what there is, park.
void thread_main(void* worker) noexcept;

}  // namespace fj::inline v0_1::detail
