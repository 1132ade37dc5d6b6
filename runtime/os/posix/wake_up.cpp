#include "runtime/os/io/wake_up.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/os/io/uninterrupted.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

int wake_up::open() noexcept {
  int ends[2];
  if (pipe(ends) != 0) return errno;
  to_read_ = ends[0];
  to_write_ = ends[1];
  for (const int end : ends)
    if (fcntl(end, F_SETFL, O_NONBLOCK) != 0 || fcntl(end, F_SETFD, FD_CLOEXEC) != 0) {
      const int error = errno;
      close();
      return error;
    }
  return 0;
}

void wake_up::close() noexcept {
  if (to_read_ >= 0) ::close(to_read_);
  if (to_write_ >= 0) ::close(to_write_);
  to_read_ = to_write_ = -1;
}

// A pipe that is full can be read.
void wake_up::signal() noexcept {
  uninterrupted([&] { return ::write(to_write_, "", 1); });
}

void wake_up::take() noexcept {
  char taken[64];
  while (uninterrupted([&] { return ::read(to_read_, taken, sizeof(taken)); }).result == sizeof(taken)) {}
}

}}}}  // namespace fj::v0_4::detail::os
