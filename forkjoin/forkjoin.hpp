// forkjoin: recursive parallel algorithms by continuation stealing. Include this.
#pragma once

#include "forkjoin/fork_join.hpp"
#include "forkjoin/options.hpp"
#include "forkjoin/policies.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/scope.hpp"
#include "forkjoin/stop.hpp"
#include "forkjoin/with_scope.hpp"
