#include "runtime/wait/mutex.hpp"

#include <cstdlib>
#include <new>

#include "runtime/base/tuning.hpp"
#include "runtime/os/function_names.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/os/memory_fault.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

namespace {

void print_name_of(const char* function) noexcept {
  try {
    os::print_error(os::name_of(function).c_str());
  } catch (const std::bad_alloc&) {
    os::print_error(function);
  }
}

}  // namespace

void report_not_locked(const char* call, std::source_location at) noexcept {
  os::print_error("forkjoin: ");
  os::print_error(call);
  os::print_error(" of a mutex that is not locked that way, called by ");
  print_name_of(at.function_name());
  os::print_error(" at ");
  os::print_error(at.file_name());
  os::print_error(":");
  os::print_error(at.line());
  os::print_error(". Unlock once for each lock, as std::unique_lock and std::shared_lock do.\n");
  std::abort();
}

wait_end mutex_core::give_way_and_lock(const wait_limits& limits) {
  maybe_yield_slow();
  const wait_end end = rules_.lock(limits);
  os::schedule_point();  // so that others find it locked
  return end;
}

void mutex_core::lock_surely() noexcept {
  for (;;) {
    try {
      static_cast<void>(lock({}));
      return;
    } catch (const std::bad_alloc&) {
      os::sleep_ns(tuning::refused_ns);
    }
  }
}

}}}  // namespace fj::v0_2::detail
