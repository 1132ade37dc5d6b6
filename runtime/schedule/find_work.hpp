// The rules by which a worker finds something to run (search.hpp), on the runtime's machine.
#pragma once

#include "../fork/continuation.hpp"
#include "worker.hpp"

namespace fj::inline v0_1::detail {

/// basic_search::find_work
fiber* find_work(worker& m) noexcept;

/// basic_search::find_work_of
fiber* find_work_of(root& only, worker& m) noexcept;

/// basic_search::steal_for_top, for the root of the running fiber
deque::stolen_record steal_for_top(worker& m, const join& until) noexcept;

/// basic_search::take_ready
fiber* take_ready(worker& m) noexcept;

}  // namespace fj::inline v0_1::detail
