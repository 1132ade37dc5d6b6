// forkjoin: recursive parallel algorithms by continuation stealing. Include this.
#pragma once

#include "forkjoin/detail/requirements.hpp"

#include "forkjoin/benign_race.hpp"
#include "forkjoin/combinable.hpp"
#include "forkjoin/copy_if.hpp"
#include "forkjoin/find.hpp"
#include "forkjoin/fork_each.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/fork_reduce.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/merge.hpp"
#include "forkjoin/parallel_for.hpp"
#include "forkjoin/parallel_for_2d.hpp"
#include "forkjoin/parallel_for_blocks.hpp"
#include "forkjoin/parallel_for_each.hpp"
#include "forkjoin/partition.hpp"
#include "forkjoin/policies.hpp"
#include "forkjoin/reduce.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/scan.hpp"
#include "forkjoin/scope.hpp"
#include "forkjoin/sort.hpp"
#include "forkjoin/stable_partition.hpp"
#include "forkjoin/stable_sort.hpp"
#include "forkjoin/stop.hpp"
#include "forkjoin/trace.hpp"
#include "forkjoin/transform.hpp"
#include "forkjoin/with_scope.hpp"

namespace fj { inline namespace v0_2 {

// Compilers show this line for a use of a channel without its header.
template <class T>
class channel;  // include <forkjoin/go.hpp>

}}  // namespace fj::v0_2
