// What the system says about the threads of this process, so that a test can wait until they sleep, instead of for some
// time.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

namespace test {

struct thread_state {
  bool sleeps = false;
  std::string switches;  // how often the thread has left its processor

  bool operator==(const thread_state&) const = default;
};

inline thread_state state_of(pid_t thread) {
  thread_state found;
  std::ifstream status("/proc/self/task/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) found.sleeps = line.find('S', 6) != std::string::npos;
    if (line.find("ctxt_switches:") != std::string::npos) found.switches += line.substr(line.find(':'));
  }
  return found;
}

/// The states of all threads but the caller.
inline std::map<pid_t, thread_state> other_threads() {
  std::map<pid_t, thread_state> found;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    const pid_t thread = std::stoi(entry.path().filename());
    if (thread != gettid()) found[thread] = state_of(thread);
  }
  return found;
}

/// Whether the thread has slept between two looks.
inline bool sleeps(pid_t thread) {
  const thread_state first = state_of(thread);
  return first.sleeps && first == state_of(thread);
}

/// Whether at some moment all threads but the caller slept: each has slept between the same two looks.
inline bool all_others_sleep() {
  const auto first = other_threads();
  for (const auto& [thread, state] : first)
    if (!state.sleeps) return false;
  return first == other_threads();
}

}  // namespace test
