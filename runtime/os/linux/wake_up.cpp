#include "runtime/os/io/wake_up.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/os/io/uninterrupted.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

int wake_up::open() noexcept {
  to_read_ = to_write_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return to_read_ < 0 ? errno : 0;
}

void wake_up::close() noexcept {
  if (to_read_ >= 0) ::close(to_read_);
  to_read_ = to_write_ = -1;
}

void wake_up::signal() noexcept {
  const eventfd_t one = 1;
  uninterrupted([&] { return ::write(to_write_, &one, sizeof(one)); });
}

void wake_up::take() noexcept {
  eventfd_t count = 0;
  uninterrupted([&] { return ::read(to_read_, &count, sizeof(count)); });
}

}}}}  // namespace fj::v0_4::detail::os
