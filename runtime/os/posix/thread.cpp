#include "runtime/os/thread.hpp"

#include <pthread.h>

#include "runtime/os/interrupt.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

int thread::create(placement) noexcept { return pthread_create(&handle_, nullptr, &thread::first_frame, this); }

void thread::adopt_caller() noexcept { id_.store(this_thread(), std::memory_order_relaxed); }

// No thread chooses its CPU.
void thread::keep_off_this_cpu() noexcept {}
void thread::leave_it_this_cpu() noexcept {}
void thread::use_all_cpus() noexcept {}

void wake_in_time() noexcept {}
void wake_as_usual() noexcept {}
void name_thread(const char*, unsigned) noexcept {}

unsigned count_threads() noexcept { return 0; }
bool are_threads(unsigned) noexcept { return false; }
cpu_time time_of_threads() noexcept { return {}; }

}}}}  // namespace fj::v0_4::detail::os
