#include "forkjoin/go/mutex.hpp"

#include <cstdlib>
#include <new>
#include <source_location>

#include "forkjoin/abi/maybe_yield.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/function_names.hpp"
#include "runtime/os/machine.hpp"
#include "runtime/os/memory_fault.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

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

}  // namespace detail

detail::wait_end mutex::give_way_and_lock(const detail::wait_limits& limits) {
  detail::maybe_yield_slow();
  const detail::wait_end end = rules_.lock(limits);
  detail::os::schedule_point();  // so that others find it locked
  return end;
}

void mutex::lock_surely(const detail::wait_place& place) noexcept {
  for (;;) {
    try {
      static_cast<void>(lock_within({.place = place}));
      return;
    } catch (const std::bad_alloc&) {
      detail::os::sleep_ns(detail::tuning::refused_ns);
    }
  }
}

}}  // namespace fj::v0_4
