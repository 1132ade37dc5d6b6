// Fibers that fj::go starts, their channels and locks, and other waits. forkjoin.hpp has forks and loops.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include "forkjoin/go/barrier.hpp"
#include "forkjoin/go/blocking.hpp"
#include "forkjoin/go/channel.hpp"
#include "forkjoin/go/condition_variable.hpp"
#include "forkjoin/go/descriptor.hpp"
#include "forkjoin/go/directional_channel.hpp"
#include "forkjoin/go/future.hpp"
#include "forkjoin/go/latch.hpp"
#include "forkjoin/go/local.hpp"
#include "forkjoin/go/lost_fibers.hpp"
#include "forkjoin/go/mutex.hpp"
#include "forkjoin/go/once.hpp"
#include "forkjoin/go/print_fibers.hpp"
#include "forkjoin/go/select.hpp"
#include "forkjoin/go/semaphore.hpp"
#include "forkjoin/go/shared_mutex.hpp"
#include "forkjoin/go/sleep.hpp"
#include "forkjoin/go/wait_group.hpp"
#include "forkjoin/task_group.hpp"
