#include "runtime/wait/descriptors/watched.hpp"

#include <cerrno>

#include "runtime/fork/current.hpp"
#include "runtime/os/io/io.hpp"
#include "runtime/sched/scheduler.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// Entries that are free.
os::mutex pool_mutex;
watched* pool FORKJOIN_GUARDED_BY(pool_mutex) = nullptr;

// No other thread may hold the mutex while fork(2) copies it.
void lock_pool() FORKJOIN_UNANALYSED { pool_mutex.lock(); }
void unlock_pool() FORKJOIN_UNANALYSED { pool_mutex.unlock(); }
// A worker may have held the mutex of an entry, for an event that came too late: the child makes entries of its own.
void empty_pool() FORKJOIN_UNANALYSED {
  pool = nullptr;
  pool_mutex.unlock();
}
[[maybe_unused]] const bool registered_pool = os::at_fork(&lock_pool, &unlock_pool, &empty_pool);

}  // namespace

watched& watched::take(int number, number_is whose) {
  watched* w = nullptr;
  {
    const locked lock(pool_mutex);
    if ((w = pool)) pool = w->next_free_;
  }
  if (!w) w = new watched;
  w->number_ = number;
  w->whose_ = whose;
  w->is_socket_ = os::is_socket(number);
  w->life_ = w->open();
  return *w;
}

io_end watched::wait(io_way way, std::uint32_t seen, const wait_limits& limits) {
  if (worker* const m = current_worker()) return wait_inside(m->sched(), way, seen, limits);
  return wait_outside(number_, way, this, limits);
}

io_end watched::wait_inside(scheduler& s, io_way way, std::uint32_t seen, const wait_limits& limits) {
  if (const int error = watch_in(s, way)) return {.error = error};
  s.monitor().watch();  // looks when all workers compute; without it, they look at their next change of fibers
  return operation::wait_for_edge(*this, way, seen, limits, s.dispatcher().timekeeper());
}

// Each runtime whose strands wait here has its poller watch, until the descriptor is closed. The poller is asked before
// the wait begins: a report in between adds an edge, and the operation tries again.
int watched::watch_in(scheduler& s, io_way way) {
  poller& p = s.poller();
  if (!p.is_open()) {
    if (const int error = p.open()) return error;
    s.dispatcher().timekeeper().poller_is_open();
  }
  const locked lock(mutex_);
  for (const registration& r : watched_by_)
    if (r.at == s.shared_poller()) {
      p.ask(r.number, way);
      return 0;
    }
  std::erase_if(watched_by_, [this](const registration& r) {
    if (r.at->is_open()) return false;  // else its runtime has ended
    end(r);
    return true;
  });
  watched_by_.push_back({s.shared_poller(), number_});
  const int error = watch_at(p, watched_by_.back().number);
  error == 0 ? p.ask(watched_by_.back().number, way) : watched_by_.pop_back();
  return error;
}

// An epoll knows a number once. If another entry has it there, a duplicate stands for it.
int watched::watch_at(poller& p, int& number) noexcept {
  const int error = p.watch(number, *this, life_);
  if (error != EEXIST) return error;
  const os::io copy = os::duplicate(number);
  if (copy.error != 0) return copy.error;
  number = static_cast<int>(copy.result);
  const int refused = p.watch(number, *this, life_);
  if (refused != 0) os::close_descriptor(number);
  return refused;
}

void watched::finish() noexcept {
  operation::finish(
      *this, [this] { release(); },
      [this] {
        const locked lock(pool_mutex);
        next_free_ = pool;
        pool = this;
      });
}

void watched::release() noexcept {
  const locked lock(mutex_);
  for (const registration& r : watched_by_) end(r);
  watched_by_.clear();
  if (whose_ == number_is::owned) os::close_descriptor(number_);
}

void watched::end(const registration& r) noexcept {
  r.at->unwatch(r.number);
  if (r.number != number_) os::close_descriptor(r.number);
}

void watched::close() noexcept {
  claimed_polls woken;
  if (!poll_entry::close(woken)) return;
  woken.wake_all(precedence::in_order);
  finish();
}

void watched::drop() noexcept {
  close();
  drop_handle();
  finish();
}

}}}  // namespace fj::v0_4::detail
