// The two ways of stealing.
#pragma once

namespace fj::inline v0_1 {

/// Policies for fork_join and all that is made of it: what idle workers may steal.
struct continuations {};  ///< the rest of the caller, while the child runs
struct tasks {};          ///< the child, while the caller goes on

}  // namespace fj::inline v0_1
