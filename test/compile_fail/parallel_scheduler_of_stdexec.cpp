// With stdexec's own pool in each source nothing would be replaced.
// expect: <forkjoin/parallel_scheduler.hpp>: compile without STDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY

#ifndef FIXED
#define STDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY
#endif
#include "forkjoin/parallel_scheduler.hpp"

int main() { static_cast<void>(stdexec::get_parallel_scheduler()); }
