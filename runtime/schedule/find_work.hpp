// How a worker finds something to run.
#pragma once

#include "worker.hpp"

namespace fj::inline v0_1::detail {

/// A fiber to run: a ready one, else one that runs a stolen record. nullptr when there is nothing, or when enough others
/// look already: then the worker parks.
fiber* find_work(worker& m) noexcept;

/// A fiber that works for that job. nullptr when the job is over, when there has been nothing of it to be seen for a while,
/// or when there is something else to do: then the worker hands its P over.
fiber* find_work_of(const root& job, worker& m) noexcept;

/// A record of the running fiber's job, to be run on top of it while `until` is not finished; none after looking for a
/// while.
deque::loot steal_for_top(worker& m, const join& until) noexcept;

}  // namespace fj::inline v0_1::detail
