#include "runtime/flight_recorder.hpp"

#include <cstdint>
#include <exception>

#include "runtime/environment.hpp"
#include "runtime/instances.hpp"
#include "runtime/os/backtrace.hpp"
#include "runtime/os/memory_fault.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

void write_flight(instance& of) noexcept {
  if (of.flight_file.empty() || !of.traces().now()) return;
  try {
    of.traces().write(of.flight_file.c_str());
    os::print_error("forkjoin: the newest events are in \"");
    os::print_error(of.flight_file.c_str());
    os::print_error("\"; forkjoin-trace shows them\n");
  } catch (const std::exception& error) {
    os::print_error(error.what());
    os::print_error("\n");
  }
}

namespace {

// On the monitor's thread.
void tell_long_run(scheduler& s, unsigned proc, std::int64_t ns) noexcept {
  unsigned fiber = 0;
  int thread = 0;
  s.threads().for_each([&](worker& m) {
    const processor* const p = m.proc;
    const detail::fiber* const f = m.runs;
    if (!p || !f || p->index != proc) return;
    fiber = f->number;
    thread = m.thread.id();
  });
  if (thread == 0) return;  // it has just left
  os::print_error("forkjoin: fiber ");
  os::print_error(fiber);
  os::print_error(" has kept P ");
  os::print_error(proc);
  os::print_error(" for over ");
  os::print_error(static_cast<unsigned long>(ns / 1'000'000));
  os::print_error(" ms, while others were ready. It is in\n");
  os::print_backtrace(thread);
  write_flight(static_cast<instance&>(s));
}

}  // namespace

void report_long_runs(instance& of) {
  const std::int64_t ns = long_run_from_environment();
  if (ns == 0) return;
  os::allow_backtraces();
  of.monitor().report_long_runs(ns, &tell_long_run);
  of.monitor().watch();  // without a thread for it there are no such reports
}

}}}  // namespace fj::v0_4::detail
