#include "runtime/os/io/event_poll.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <new>
#include <tuple>
#include <utility>

#include "forkjoin/abi/os/clock.hpp"
#include "runtime/os/io/wake_up.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/turns.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

using epoll_events = std::array<epoll_event, std::tuple_size_v<io_events>>;

// A time that is as far away is none.
constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max() - 1;

// epoll_wait knows milliseconds alone, rounded up here: a deadline is never early.
int milliseconds(std::int64_t nanoseconds) noexcept {
  const std::int64_t rounded = nanoseconds / 1'000'000 + (nanoseconds % 1'000'000 != 0);
  return static_cast<int>(std::min<std::int64_t>(rounded, INT_MAX));
}

// Linux 5.11 has epoll_pwait2, which takes nanoseconds; a sandbox may refuse it.
int wait_for(int epoll, epoll_events& events, std::int64_t until) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  const int room = static_cast<int>(events.size());
  const std::int64_t time = until >= for_ever || until <= 0 ? 0 : std::max<std::int64_t>(until - now_ns(), 0);
#ifdef SYS_epoll_pwait2
  static std::atomic<bool> has_pwait2{true};
  if (time > 0 && has_pwait2.load(std::memory_order_relaxed)) {
    const timespec limit{static_cast<time_t>(time / second), static_cast<long>(time % second)};
    const auto found = static_cast<int>(syscall(SYS_epoll_pwait2, epoll, events.data(), room, &limit, nullptr, 0));
    if (found >= 0 || (errno != ENOSYS && errno != EPERM && errno != EACCES)) return found;
    has_pwait2.store(false, std::memory_order_relaxed);
  }
#endif
  return epoll_wait(epoll, events.data(), room, until >= for_ever ? -1 : milliseconds(time));
}

}  // namespace

struct event_poll::state {
  int epoll = -1;
  wake_up interrupts, ends_of_await;
};

event_poll::~event_poll() {
  close();
  delete state_;
}

// The eventfd is level-triggered, and only the sleeper reads it: a look of another thread leaves an interrupt there.
int event_poll::open() noexcept {
  if (!state_) state_ = new (std::nothrow) state;
  if (!state_) return ENOMEM;
  epoll_event interrupts{};
  interrupts.events = EPOLLIN;
  interrupts.data.u64 = own;
  state_->epoll = epoll_create1(EPOLL_CLOEXEC);
  int error = state_->epoll >= 0 ? state_->interrupts.open() : errno;
  if (error == 0) error = state_->ends_of_await.open();
  if (error == 0 && epoll_ctl(state_->epoll, EPOLL_CTL_ADD, state_->interrupts.number(), &interrupts) != 0)
    error = errno;
  if (error != 0) close();
  return error;
}

void event_poll::close() noexcept {
  if (!state_) return;
  if (state_->epoll >= 0) ::close(std::exchange(state_->epoll, -1));
  state_->interrupts.close();
  state_->ends_of_await.close();
}

int event_poll::add(int descriptor, std::uint64_t data) noexcept {
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  wanted.data.u64 = data;
  return epoll_ctl(state_->epoll, EPOLL_CTL_ADD, descriptor, &wanted) == 0 ? 0 : errno;
}

void event_poll::remove(int descriptor) noexcept {
  epoll_event ignored{};
  epoll_ctl(state_->epoll, EPOLL_CTL_DEL, descriptor, &ignored);
}

std::size_t event_poll::look(io_events& into) noexcept { return wait(into, 0, false); }

std::size_t event_poll::sleep(io_events& into, std::int64_t until) noexcept {
  if (turns* const all = turns::mine()) {
    all->pass();  // an event may come by what another thread does in its turn
    until = 0;
  }
  return wait(into, until, true);
}

void event_poll::interrupt() noexcept { state_->interrupts.signal(); }

// An epoll is itself ready for reading while it has events.
bool event_poll::await(std::int64_t until) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  if (turns* const all = turns::mine()) {
    all->pass();  // as in sleep
    until = 0;
  }
  const std::int64_t time = std::max<std::int64_t>(until <= 0 ? 0 : until - now_ns(), 0);
  const timespec limit{static_cast<time_t>(time / second), static_cast<long>(time % second)};
  std::array<pollfd, 2> awaited{{{state_->epoll, POLLIN, 0}, {state_->ends_of_await.number(), POLLIN, 0}}};
  if (ppoll(awaited.data(), awaited.size(), &limit, nullptr) <= 0) return false;
  if (awaited[1].revents != 0) state_->ends_of_await.take();
  return awaited[0].revents != 0;
}

void event_poll::end_await() noexcept { state_->ends_of_await.signal(); }

std::size_t event_poll::wait(io_events& into, std::int64_t until, bool sleeps) noexcept {
  epoll_events events;
  const int found = wait_for(state_->epoll, events, until);
  if (found < 0 && errno != EINTR) {
    print_error("forkjoin: the program has closed a descriptor of the runtime's: epoll_wait failed\n");
    std::abort();
  }
  std::size_t count = 0;
  for (int i = 0; i < found; ++i) {
    const epoll_event& e = events[static_cast<std::size_t>(i)];
    if (e.data.u64 == own) {
      if (sleeps) state_->interrupts.take();
      continue;
    }
    const bool both = (e.events & (EPOLLERR | EPOLLHUP)) != 0;
    into[count++] = {e.data.u64, both || (e.events & (EPOLLIN | EPOLLRDHUP)) != 0, both || (e.events & EPOLLOUT) != 0};
  }
  return count;
}

}}}}  // namespace fj::v0_4::detail::os
