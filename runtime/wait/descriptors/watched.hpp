// A descriptor whose events strands and threads wait for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/waiter.hpp"
#include "runtime/sched/poller.hpp"
#include "runtime/wait/descriptors/operation.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// From a pool of the process, which it goes back to and which frees none: see poll_entry.hpp.
class watched final : public poll_entry {
 public:
  watched() noexcept = default;

  /// Whether the number is closed with the entry.
  enum class number_is { owned, borrowed };
  /// Throws std::bad_alloc.
  static watched& take(int number, number_is whose);

  /// Of an entry that is not closed, or in an operation.
  int number() const noexcept { return number_; }
  bool is_socket() const noexcept { return is_socket_; }

  /// Waits for an edge, after a try that found nothing; `seen`: the count of edges before it. Error EBADF: closed.
  /// Throws std::bad_alloc.
  io_end wait(io_way way, std::uint32_t seen, const wait_limits& limits);

  /// Ends an operation.
  void finish() noexcept;
  /// Ends all waits; the number is closed when the last operation ends.
  void close() noexcept;
  /// The same, and the entry goes back to the pool.
  void drop() noexcept;

 private:
  struct registration {
    std::shared_ptr<poller> at;
    int number;  // the entry's, or a duplicate
  };

  io_end wait_inside(scheduler& s, io_way way, std::uint32_t seen, const wait_limits& limits);
  // Reads errno, before and after waits, also if all is one program (LTO).
  [[gnu::noinline]] int watch_in(scheduler& s, io_way way);
  int watch_at(poller& p, int& number) noexcept;
  void release() noexcept;
  void end(const registration& r) noexcept;

  int number_ = -1;
  number_is whose_ = number_is::borrowed;
  bool is_socket_ = false;
  life life_ = 0;
  watched* next_free_ = nullptr;
  os::mutex mutex_;
  std::vector<registration> watched_by_ FORKJOIN_GUARDED_BY(mutex_);
};

/// A thread outside of any runtime waits for a descriptor by poll(2). `entry`: nullptr, or that of the descriptor.
/// Error EBADF: closed, or no such descriptor; or the errno of what failed.
io_end wait_outside(int number, io_way way, poll_entry* entry, const wait_limits& limits);

}}}  // namespace fj::v0_4::detail
