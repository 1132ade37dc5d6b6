// Threads of the operating system.
#pragma once

namespace fj::detail::os {

/// An OS thread that must be joined. Unlike std::thread, failing to start is a result and not an exception.
class thread {
 public:
  /// Runs body(argument) on a new thread. False when the system refuses one.
  [[nodiscard]] bool start(void (*body)(void*) noexcept, void* argument) noexcept;
  void join() noexcept;
  bool started() const noexcept { return body_ != nullptr; }

 private:
  static void* first_frame(void* self) noexcept;

  unsigned long handle_ = 0;
  void (*body_)(void*) noexcept = nullptr;
  void* argument_ = nullptr;
};

/// Gives the rest of this thread's time slice to others.
void yield_thread() noexcept;

/// How often this process has been forked(2), counted in the child: a runtime made before has lost its threads.
unsigned process_generation() noexcept;

}  // namespace fj::detail::os
