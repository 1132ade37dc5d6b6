// The rules by which a worker finds something to run (search.hpp), on the runtime's machine.
#pragma once

#include "worker.hpp"

namespace fj::inline v0_1::detail {

/// basic_search::find_work_of
fiber* find_work_of(root& only, worker& m) noexcept;

}  // namespace fj::inline v0_1::detail
