#include "runtime/os/copy_of_process.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>

#include "forkjoin/abi/os/clock.hpp"
#include "runtime/os/cpu.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

shared_memory::shared_memory(std::size_t size)
    : begin_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)), size_(size) {
  if (begin_ == MAP_FAILED) throw std::bad_alloc();
}

shared_memory::~shared_memory() { munmap(begin_, size_); }

// Where the system refuses, the memory is what it was: zeros are stored, and take memory.
void shared_memory::clear() noexcept {
  if (mmap(begin_, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    std::memset(begin_, 0, size_);
}

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), std::string("forkjoin: ") + what);
}

/// A file without a name.
class scratch_file {
 public:
  scratch_file() : descriptor_(make_nameless_file()) {
    if (descriptor_ < 0) fail("no file for what a copy of the process writes");
  }
  ~scratch_file() { close(descriptor_); }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;

  int descriptor() const noexcept { return descriptor_; }

  std::string last(std::size_t most) const {
    const off_t size = lseek(descriptor_, 0, SEEK_END);
    std::string text(std::min(most, static_cast<std::size_t>(std::max<off_t>(size, 0))), '\0');
    const ssize_t got = pread(descriptor_, text.data(), text.size(), size - static_cast<off_t>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }

 private:
  const int descriptor_;
};

// Where SIGCHLD is ignored, nothing tells how a copy ended.
class noticed_ends {
 public:
  noticed_ends() noexcept {
    sigaction(SIGCHLD, nullptr, &before_);
    if (before_.sa_handler != SIG_IGN && (before_.sa_flags & SA_NOCLDWAIT) == 0) return;
    struct sigaction noticed = before_;
    noticed.sa_flags &= ~SA_NOCLDWAIT;
    if (before_.sa_handler == SIG_IGN) noticed.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &noticed, nullptr);
    is_changed_ = true;
  }
  ~noticed_ends() { restore(); }
  noticed_ends(const noticed_ends&) = delete;
  noticed_ends& operator=(const noticed_ends&) = delete;

  void restore() noexcept {
    if (is_changed_) sigaction(SIGCHLD, &before_, nullptr);
  }

 private:
  struct sigaction before_;
  bool is_changed_ = false;
};

// The short sleeps come first: most copies live for a millisecond.
bool wait_for(pid_t copy, int& status, std::uint64_t (*progress)(void*), void* argument, std::int64_t longest_ns) {
  std::int64_t delay = 50'000, seen_at = now_ns();
  std::uint64_t seen = progress(argument);
  bool killed = false;
  for (;;) {
    const pid_t ended = waitpid(copy, &status, killed ? 0 : WNOHANG);
    if (ended == copy) return killed;
    if (ended < 0 && errno != EINTR) fail("a copy of the process cannot be waited for");
    sleep_ns(delay);
    delay = std::min<std::int64_t>(delay + delay / 4, 5'000'000);
    if (const std::uint64_t now = progress(argument); now != seen) {
      seen = now;
      seen_at = now_ns();
    } else if (!killed && now_ns() - seen_at > longest_ns) {
      killed = kill(copy, SIGKILL) == 0;
    }
  }
}

}  // namespace

copy_end call_in_copy(int (*body)(void* argument) noexcept, void* argument, std::uint64_t (*progress)(void* argument),
                      std::int64_t longest_ns) {
  const scratch_file errors;
  std::fflush(nullptr);  // so that the copy has nothing to write that is this process's
  noticed_ends noticed;
  const pid_t copy = fork();
  if (copy < 0) fail("the system refuses a copy of the process");
  if (copy == 0) {
    noticed.restore();
    dup2(errors.descriptor(), STDERR_FILENO);
    const int result = body(argument);
    std::fflush(nullptr);
    _exit(result);
  }
  int status = 0;
  copy_end end;
  end.was_stuck = wait_for(copy, status, progress, argument, longest_ns);
  end.by_itself = WIFEXITED(status);
  end.number = end.by_itself ? WEXITSTATUS(status) : WTERMSIG(status);
  end.error_output = errors.last(std::size_t{64} << 10);
  return end;
}

}}}}  // namespace fj::v0_4::detail::os
