// Jobs that come from outside: a thread, or a fiber of another runtime, calls run (forkjoin/abi/run.hpp: run_job).
#pragma once

namespace fj { inline namespace v0_4 { namespace detail {

class scheduler;

/// Throws std::logic_error in a process that fork(2) made after the runtime, and in a thread that takes no turns where
/// the runtime's do.
void refuse_job(const scheduler& s);

}}}  // namespace fj::v0_4::detail
