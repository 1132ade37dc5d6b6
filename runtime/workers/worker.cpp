#include "runtime/workers/worker.hpp"

#include "runtime/workers/scheduler.hpp"

namespace fj::inline v0_1::detail {

void worker::sleep() noexcept { sleeping_.sleep(wakes_at, scheduler_->poller(), polled); }

void worker::signal() noexcept { sleeping_.signal(scheduler_->poller()); }

}  // namespace fj::inline v0_1::detail
