// The rules by which a worker finds something to run (search.hpp, work_on_top.hpp), on the runtime's machine.
#pragma once

#include "../fork/continuation.hpp"
#include "worker.hpp"

namespace fj::inline v0_1::detail {

/// basic_search::find_work_of
fiber* find_work_of(root& only, worker& m) noexcept;

/// basic_work_on_top::find, for the root of the running fiber
deque::stolen_record find_for_top(worker& m, const join& until, bool deep) noexcept;

}  // namespace fj::inline v0_1::detail
