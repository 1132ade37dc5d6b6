// forkjoin: recursive parallel algorithms by continuation stealing. Include this.
#pragma once

#include "forkjoin/combinable.hpp"
#include "forkjoin/copy_if.hpp"
#include "forkjoin/find.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/merge.hpp"
#include "forkjoin/options.hpp"
#include "forkjoin/partition.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/scope.hpp"
#include "forkjoin/sort.hpp"
#include "forkjoin/stable_sort.hpp"
#include "forkjoin/stop.hpp"
