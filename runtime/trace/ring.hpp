// Where one thread's events go: a ring, whose newest event takes the place of the oldest when it is full. format.hpp
// says what a reader may rely on; tracer.cpp has the code.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/trace/format.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

class tracer;

/// In the file's memory, but for this handle, which is all that it relies on: other processes may write the file. One
/// thread at a time adds: a worker; or any thread, under the tracer's mutex.
class trace_ring {
 public:
  /// `capacity`: a power of two.
  trace_ring(tracer& of, trace_ring_head& head, trace_event* events, std::uint64_t capacity) noexcept
      : whose_(of), head_(head), events_(events), mask_(capacity - 1) {}

  /// Some 5 ns.
  [[gnu::cold, gnu::noinline]] void add(event what, unsigned proc, std::uint32_t fiber, std::uint64_t a,
                                        std::uint64_t b) noexcept;

  tracer& whose() const noexcept { return whose_; }

 private:
  tracer& whose_;
  trace_ring_head& head_;
  trace_event* const events_;
  const std::uint64_t mask_;
};

}}}  // namespace fj::v0_4::detail
