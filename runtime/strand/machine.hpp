// The requirements of this folder's templates on their Machine, the type that supplies strands. There are two such types: the
// runtime's (system.hpp) and that of the model checks (test/model/strands.hpp).
#pragma once

#include <concepts>
#include <cstdint>

#include "../fork/machine.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// `fiber` and `worker` are types. `suspend(then, argument)` has the running strand leave its stack: then(worker, fiber,
/// argument) is called when its context has been saved, and returns the strand that goes on in its place, or nullptr. It returns
/// when another strand has resumed this one, perhaps on another worker. `may_leave` says whether the strand may suspend now;
/// if not, it waits with `sleep_ns`. `resume(f)` makes a strand that waits runnable. `end_strand(f)` ends the running strand,
/// and its worker goes on with f, unless nullptr. `arrive_on_worker` is called whenever a strand has come to another worker.
template <class Machine>
concept strand_machine =
    memory_machine<Machine> &&
    requires(typename Machine::fiber& f,
             typename Machine::fiber* (*then)(typename Machine::worker&, typename Machine::fiber&, void*) noexcept,
             void* argument) {
      { Machine::may_leave() } -> std::same_as<bool>;
      Machine::sleep_ns(std::int64_t{});
      Machine::suspend(then, argument);
      Machine::resume(f);
      Machine::end_strand(&f);
      Machine::arrive_on_worker();
    };

}}}  // namespace fj::v0_2::detail
