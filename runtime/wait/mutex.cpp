#include "runtime/wait/mutex.hpp"

#include <new>

#include "runtime/base/tuning.hpp"
#include "runtime/os/cpu.hpp"

namespace fj::inline v0_1::detail {

template wait_end basic_mutex<wait_system>::lock_slow(const wait_limits& limits);
template void basic_mutex<wait_system>::unlock_slow() noexcept;

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

}  // namespace fj::inline v0_1::detail
