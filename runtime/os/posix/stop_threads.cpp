// POSIX does not say which threads there are, so they cannot be stopped.
#include "runtime/os/stop_threads.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

stop_outcome stop_threads() noexcept { return {stop_failure::unknown_threads, 0}; }
void resume_threads() noexcept {}

void answer_stop(const void*) noexcept {}
answers_of_stops memory_of_answers() noexcept { return {0, 0}; }
std::uint32_t first_answer_of_stop() noexcept { return 0; }
std::uint32_t end_of_answers() noexcept { return 0; }
const stopped_thread* answer_number(std::uint32_t) noexcept { return nullptr; }
stopped_thread this_thread_stopped(std::uintptr_t) noexcept { return {}; }

void note_rest(bool) noexcept {}
void note_first_frame() noexcept {}

}}}}  // namespace fj::v0_4::detail::os
