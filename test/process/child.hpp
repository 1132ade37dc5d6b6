// For tests of processes that end badly: runs this program again with other arguments, or a function in a forked child,
// and records how it ended and what it printed.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace test {

struct ending {
  int code = -1;          ///< exit code, or -1
  int signal = 0;         ///< the signal that ended it, or 0
  bool too_late = false;  ///< the test had to kill it
  std::string said;       ///< what it wrote to standard error
};

/// Waits for the child, and reads what it writes to `from` meanwhile; kills it after some time.
inline ending watch(pid_t child, int from, int seconds = 100) {
  ending end;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (char buffer[4096];;) {
    pollfd ready{from, POLLIN, 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      end.too_late = true;
      kill(child, SIGKILL);
      break;
    }
    if (poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t got = read(from, buffer, sizeof(buffer));
    if (got <= 0) break;
    end.said.append(buffer, static_cast<std::size_t>(got));
  }
  close(from);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

/// Calls body() in a forked child. The child's exit code is what body returns.
template <class Body>
ending in_child(Body body, int seconds = 100) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::exit(body());
  }
  close(ends[1]);
  return watch(child, ends[0], seconds);
}

/// Runs this program with these arguments.
inline ending run_again(const std::vector<std::string>& arguments, int seconds = 100) {
  return in_child(
      [&] {
        std::vector<char*> words;
        std::string self = "/proc/self/exe";
        words.push_back(self.data());
        std::vector<std::string> copies = arguments;
        for (std::string& word : copies) words.push_back(word.data());
        words.push_back(nullptr);
        execv(self.data(), words.data());
        return 127;
      },
      seconds);
}

/// Counts failures, and prints them.
class verdict {
 public:
  void check(bool right, const std::string& what) {
    if (right) return;
    ++wrong_;
    std::printf("wrong: %s\n", what.c_str());
  }
  void contains(const std::string& text, const std::string& part, const std::string& what) {
    check(text.find(part) != std::string::npos, what + ": \"" + part + "\" is not in \"" + text + "\"");
  }
  int exit_code() const { return wrong_ == 0 ? 0 : 1; }

 private:
  int wrong_ = 0;
};

}  // namespace test
