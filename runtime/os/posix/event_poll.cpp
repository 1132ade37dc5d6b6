// poll(2), over a table of what is asked of each descriptor. It reports what is there, not what changes: so a report
// ends what was asked for. A thread that sleeps in poll(2) has a copy of the table; a change wakes it, and it sleeps
// with a new one.
#include "runtime/os/io/event_poll.hpp"

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "forkjoin/abi/os/clock.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/cpu.hpp"
#include "runtime/os/io/wake_up.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/posix/milliseconds.hpp"
#include "runtime/os/system_futex.hpp"
#include "runtime/os/turns.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

struct watched_descriptor {
  std::uint64_t data = event_poll::own;  // that: not watched
  short asked = 0;                       // POLLIN, POLLOUT
};

struct sleeper {
  wake_up changed;
  bool must_end = false;  // its present sleep, or the next one
  bool in_poll = false;   // and then `told`: it has been woken
  bool told = false;
  std::vector<pollfd> polled;           // changes only while it is not in poll(2)
  std::atomic<std::uint32_t> polls{0};  // that ended

  void tell() noexcept {
    if (in_poll && !std::exchange(told, true)) changed.signal();
  }
  bool polls_for(int descriptor) const noexcept {
    return in_poll && std::any_of(polled.begin(), polled.end(), [=](const pollfd& p) { return p.fd == descriptor; });
  }
};

}  // namespace

struct event_poll::state {
  std::mutex mutex;                         // of all that follows
  std::vector<watched_descriptor> watched;  // by number
  sleeper sleeps, awaits;
  std::vector<pollfd> looks;

  // False if there is no memory for all of it.
  bool copy_table(std::vector<pollfd>& to, int changed) noexcept {
    try {
      to.reserve(watched.size() + 1);
    } catch (const std::bad_alloc&) {}
    to.clear();
    if (to.capacity() > 0) to.push_back({changed, POLLIN, 0});
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].asked == 0) continue;
      if (to.size() == to.capacity()) return false;
      to.push_back({static_cast<int>(i), watched[i].asked, 0});
    }
    return to.capacity() > 0;
  }

  // What poll(2) has found and is still asked for.
  std::size_t report(const std::vector<pollfd>& found, io_events& into, bool takes) noexcept {
    std::size_t count = 0;
    for (std::size_t i = 1; i < found.size() && count < into.size(); ++i) {
      watched_descriptor& w = watched[static_cast<std::size_t>(found[i].fd)];
      const bool both = (found[i].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
      const auto now = static_cast<short>((both ? POLLIN | POLLOUT : found[i].revents) & w.asked);
      if (now == 0) continue;
      into[count++] = {w.data, (now & POLLIN) != 0, (now & POLLOUT) != 0};
      if (takes) w.asked = static_cast<short>(w.asked & ~now);
    }
    return count;
  }

  std::size_t wait(sleeper& s, io_events& into, std::int64_t until, bool takes) noexcept {
    std::unique_lock lock(mutex);
    for (std::size_t count = 0;;) {
      if (count > 0 || s.must_end) {
        s.must_end = false;
        return count;
      }
      if (!takes && sleeps.must_end) return 1;  // an interrupt is left to the sleeper
      const bool is_whole = copy_table(s.polled, s.changed.number());
      const int limit = is_whole ? milliseconds_until(until) : 1;
      s.in_poll = true;
      lock.unlock();
      const int found = ::poll(s.polled.data(), static_cast<nfds_t>(s.polled.size()), limit);
      const bool is_refused = found < 0 && (errno == ENOMEM || errno == EAGAIN);
      const bool failed = found < 0 && errno != EINTR && !is_refused;
      if (is_refused) sleep_ns(tuning::refused_ns);
      lock.lock();
      const short change = s.polled.empty() ? short{0} : s.polled[0].revents;
      if (failed || (change & POLLNVAL) != 0) {
        print_error("forkjoin: the program has closed a descriptor of the runtime's: poll failed\n");
        std::abort();
      }
      if (change != 0) s.changed.take();
      s.in_poll = s.told = false;
      s.polls.fetch_add(1, std::memory_order_release);  // release: pairs with the acquire in remove
      system_futex_wake(s.polls, true);
      count = found > 0 ? report(s.polled, into, takes) : 0;
      if (found <= 0 || now_ns() >= until) s.must_end = true;
    }
  }
};

event_poll::~event_poll() { delete state_; }

int event_poll::open() noexcept {
  if (!state_) state_ = new (std::nothrow) state;
  if (!state_) return ENOMEM;
  int error = state_->sleeps.changed.open();
  if (error == 0) error = state_->awaits.changed.open();
  if (error != 0) close();
  return error;
}

void event_poll::close() noexcept {
  if (!state_) return;
  state_->sleeps.changed.close();
  state_->awaits.changed.close();
  state_->watched.clear();
}

int event_poll::add(int descriptor, std::uint64_t data) noexcept {
  struct stat about;
  if (fstat(descriptor, &about) != 0) return errno;
  if (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) return EPERM;
  const auto number = static_cast<std::size_t>(descriptor);
  const std::lock_guard lock(state_->mutex);
  try {
    if (number >= state_->watched.size()) state_->watched.resize(number + 1);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  if (state_->watched[number].data != own) return EEXIST;
  state_->watched[number] = {data, 0};
  return 0;
}

void event_poll::ask_again(int descriptor, bool to_write) noexcept {
  const std::lock_guard lock(state_->mutex);
  short& asked = state_->watched[static_cast<std::size_t>(descriptor)].asked;
  const auto with = static_cast<short>(asked | (to_write ? POLLOUT : POLLIN));
  if (std::exchange(asked, with) == with) return;
  state_->sleeps.tell();
  state_->awaits.tell();
}

// Not before both sleepers are out of a poll(2) for it: else what is open there would not end when the descriptor is
// closed.
void event_poll::remove(int descriptor) noexcept {
  std::unique_lock lock(state_->mutex);
  state_->watched[static_cast<std::size_t>(descriptor)] = {};
  for (sleeper* const s : {&state_->sleeps, &state_->awaits}) {
    if (!s->polls_for(descriptor)) continue;
    const std::uint32_t before = s->polls.load(std::memory_order_relaxed);
    s->tell();
    lock.unlock();
    // acquire: pairs with the release in wait
    while (s->polls.load(std::memory_order_acquire) == before) system_futex_wait(s->polls, before);
    lock.lock();
  }
}

std::size_t event_poll::look(io_events& into) noexcept {
  const std::lock_guard lock(state_->mutex);
  std::vector<pollfd>& now = state_->looks;
  state_->copy_table(now, -1);
  return ::poll(now.data(), static_cast<nfds_t>(now.size()), 0) > 0 ? state_->report(now, into, true) : 0;
}

std::size_t event_poll::sleep(io_events& into, std::int64_t until) noexcept {
  if (turns* const all = turns::mine()) {
    all->pass();  // an event may come by what another thread does in its turn
    until = 0;
  }
  return state_->wait(state_->sleeps, into, until, true);
}

void event_poll::interrupt() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->sleeps.must_end = true;
  state_->sleeps.tell();
  state_->awaits.tell();
}

bool event_poll::await(std::int64_t until) noexcept {
  if (turns* const all = turns::mine()) {
    all->pass();  // as in sleep
    until = 0;
  }
  io_events found;
  return state_->wait(state_->awaits, found, until, false) > 0;
}

void event_poll::end_await() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->awaits.must_end = true;
  state_->awaits.tell();
}

}}}}  // namespace fj::v0_4::detail::os
