// Operations on descriptors: each tries, and if the call would block, the strand waits for an edge and tries again.
#pragma once

#include <cstddef>

#include "forkjoin/abi/waiter.hpp"

struct sockaddr;

namespace fj { inline namespace v0_4 { namespace detail {

/// A descriptor whose events strands and threads wait for.
class watched;

enum class io_way : unsigned { reading, writing };

/// The end of an operation on a descriptor: what it gave, or the errno of its failure, or the limit that ended its
/// wait.
struct io_end {
  std::size_t count = 0;
  int error = 0;
  wait_end limit = wait_end::served;

  bool failed() const noexcept { return error != 0 || limit != wait_end::served; }
};

/// Makes the descriptor one that does not block. The number is the entry's from then on. Throws std::system_error and
/// std::bad_alloc; then it is the caller's.
watched& open_descriptor(int number);
/// Ends all waits; the number is closed when the last operation ends.
void close_descriptor(watched& d) noexcept;
/// The same, by the fj::descriptor that owns it, as it ends: nothing refers to it afterwards.
void drop_descriptor(watched& d) noexcept;
/// -1 if it is closed.
int number_of(const watched& d) noexcept;

// `d`: nullptr is a closed one. Each throws std::bad_alloc if there is no memory to wait.

/// What is there, at most `size` bytes; 0 at the end.
io_end read_from(watched* d, void* into, std::size_t size, const wait_limits& limits);
/// All of it; the count says how much if that fails.
io_end write_to(watched* d, const void* from, std::size_t size, const wait_limits& limits);
/// nullptr if it failed, and `end` says how.
watched* accept_from(watched* d, const wait_limits& limits, io_end& end);
io_end connect_to(watched* d, const ::sockaddr* address, std::size_t length, const wait_limits& limits);

/// Until there is something to read, or room to write.
io_end wait_until_ready(watched* d, io_way way, const wait_limits& limits);
/// The same for a number that is not closed meanwhile.
io_end wait_until_ready(int number, io_way way, const wait_limits& limits);

}}}  // namespace fj::v0_4::detail
