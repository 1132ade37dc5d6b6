// What the cases of an fj::select are to the library, which does one of them (runtime/wait/select_protocol.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/wait_queue.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// What a send or receive did under the channel's lock. One that is not done would have to wait.
struct channel_attempt {
  bool done = false;
  bool closed = false;
  wait_entry* wake = nullptr;  ///< claimed; to be woken without the lock
};

/// A case on a channel, whatever its type, or on a time. It stays where it is: the channel finds the item there.
struct select_case {
  select_case() noexcept = default;
  select_case(const select_case&) = delete;
  select_case& operator=(const select_case&) = delete;

  os::mutex* lock = nullptr;    ///< the channel's; nullptr: no channel, so the case is ready at its time
  wait_queue* queue = nullptr;  ///< where the case waits
  void* item = nullptr;         ///< what the channel gives or takes
  void* state = nullptr;        ///< the channel
  channel_attempt (*attempt)(select_case&) noexcept = nullptr;
  std::int64_t at = never;  ///< without a channel: when the case is ready, by now_ns
};

/// Room for what a case needs while it waits.
struct select_place {
  os::mutex* lock = nullptr;
  unsigned number = 0;
  std::optional<wait_entry> entry;
};

struct select_result {
  wait_end end = wait_end::served;
  const select_case* chosen = nullptr;  ///< nullptr: none is ready
  bool closed = false;                  ///< the channel of that case is
};

/// Gives way; then does the first case, in random order, that is ready; if none is and `waits`, waits for one.
/// `places`: as many as cases. Throws std::bad_alloc.
select_result select_one(std::span<select_case* const> cases, std::span<select_place> places, bool waits,
                         const wait_limits& limits);

}}}  // namespace fj::v0_4::detail
