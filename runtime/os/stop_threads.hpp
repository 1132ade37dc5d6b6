// Stops all other threads of the process for a time, each in the handler of a signal.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Where a thread was stopped.
struct stopped_thread {
  int id = 0;
  /// What lies from here up to the end of this stack is in use. That of another stack, if the thread has an alternate
  /// one for signals.
  std::uintptr_t stack_pointer = 0;
  /// The part of that alternate stack that holds the thread's registers, and the whole of it; zeros: there is none.
  std::uintptr_t registers = 0, alternate = 0, alternate_end = 0;
  /// Of a thread of this library: above all frames on its own stack that are the library's; else 0.
  std::uintptr_t frames_end = 0;
  bool rests = false;  ///< none of these frames holds anything
  /// In the memory of its own stack, unless that is the main thread's or one that the program brought.
  std::uintptr_t descriptor = 0;
};

/// Why they could not be stopped: a thread does not answer, or the system does not say which threads there are.
enum class stop_failure { none, blocks_signal, does_not_answer, too_many_threads, unknown_threads };
struct stop_outcome {
  stop_failure failure = stop_failure::none;
  int thread = 0;  ///< the one that failed
};

/// Stops the others. The signal is that of os/interrupt.hpp, which must be allowed. Until resume_threads the caller
/// must neither allocate nor take a lock: a stopped thread may be in malloc. If one of them does not stop in time, all
/// go on. One caller at a time.
stop_outcome stop_threads() noexcept;
void resume_threads() noexcept;

/// Calls visit(thread) for those that are stopped.
template <class Visit>
void for_each_stopped(Visit visit) noexcept;

/// Where this keeps addresses of stacks: they are no references to what lies there.
struct answers_of_stops {
  std::uintptr_t begin, end;
};
answers_of_stops memory_of_answers() noexcept;

/// In the handler of that signal.
void answer_stop(const void* context) noexcept;

/// How the calling thread would have answered, if its stack is in use from that address on.
stopped_thread this_thread_stopped(std::uintptr_t stack_pointer) noexcept;

/// By a thread of this library, from its first frame: what lies above is not the library's.
void note_first_frame() noexcept;
/// By such a thread: whether it sleeps, from now on, and its frames hold nothing that it will use.
void note_rest(bool begins) noexcept;

// The parts of for_each_stopped.
std::uint32_t first_answer_of_stop() noexcept;
std::uint32_t end_of_answers() noexcept;
/// nullptr: the answer is of another stop.
const stopped_thread* answer_number(std::uint32_t index) noexcept;

template <class Visit>
void for_each_stopped(Visit visit) noexcept {
  for (std::uint32_t i = first_answer_of_stop(); i != end_of_answers(); ++i)
    if (const stopped_thread* const one = answer_number(i)) visit(*one);
}

}}}}  // namespace fj::v0_4::detail::os
