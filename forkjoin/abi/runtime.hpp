// Runtimes for code that makes and watches them: the functions behind forkjoin/run.hpp and trace.hpp.
#pragma once

#include <cstddef>

#include "forkjoin/abi/options.hpp"
#include "forkjoin/abi/run.hpp"
#include "forkjoin/abi/stats.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

// Makes a runtime. Throws std::invalid_argument for an option or environment variable that makes no sense,
// std::bad_alloc.
scheduler* open_scheduler(const options& wanted);
void close_scheduler(scheduler* s) noexcept;

/// As fj::default_options.
void set_default_options(const options& wanted);
/// Runtimes that are made from now on have stacks of at least so many bytes, whatever their options say. For
/// tbb::global_control.
void set_least_stack(std::size_t bytes) noexcept;

unsigned procs_of(const scheduler& s) noexcept;
/// As their namesakes in forkjoin/run.hpp.
void set_procs(scheduler& s, unsigned procs);
unsigned procs_in_use(const scheduler& s) noexcept;
stats stats_of(const scheduler& s);

/// As their namesakes in forkjoin/run.hpp and forkjoin/trace.hpp.
void trace_to(scheduler& s, const char* path);
void write_trace(scheduler& s, const char* path);
void stop_trace(scheduler& s) noexcept;
void trace_name(const char* text, std::size_t length) noexcept;
void trace_mark(const char* text, std::size_t length) noexcept;

}}}  // namespace fj::v0_4::detail
