// The default runtime as C++26's parallel scheduler. A program includes this in one of its sources; then the scheduler
// that get_parallel_scheduler returns in any of them is this library's.
//
// A header and no library to link: stdexec declares the function that it replaces weak, and a linker takes nothing out
// of an archive for that; and the tables of virtual functions in it are those of the stdexec that the program has.
#pragma once

#include "forkjoin/detail/needs_runtime.hpp"

#include "forkjoin/execution.hpp"

#if defined(STDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY)
// It brings the function that is to be replaced into each source.
#error "<forkjoin/parallel_scheduler.hpp>: compile without STDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY"
#elif defined(__cpp_lib_senders) || __has_include(<stdexec/execution.hpp>)

#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "forkjoin/abi/run.hpp"
#include "forkjoin/abi/scheduled_call.hpp"
#include "forkjoin/parallel_for_blocks.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace replacement = ex::parallel_scheduler_replacement;

/// An operation of the parallel scheduler until its turn comes: in the memory that its caller has for it, if there is
/// room enough, else on the heap.
template <class Work>
class parallel_operation {
 public:
  static void start(replacement::receiver_proxy& to, std::span<std::byte> scratch, Work work) noexcept {
    void* at = scratch.data();
    std::size_t room = scratch.size();
    try {
      detail::scheduler& on = default_scheduler();  // fork(2) may have changed it
      const bool fits = std::align(alignof(parallel_operation), sizeof(parallel_operation), at, room);
      auto* const made = fits ? ::new (at) parallel_operation(to, work, false) : new parallel_operation(to, work, true);
      made->call_.start(on);
    } catch (...) {
      to.set_error(std::current_exception());
    }
  }

 private:
  parallel_operation(replacement::receiver_proxy& to, Work work, bool on_heap) noexcept
      : to_(to), work_(work), on_heap_(on_heap) {}

  static void complete(job_body& body) noexcept {
    auto* const made = static_cast<parallel_operation*>(static_cast<operation_body&>(body).operation);
    replacement::receiver_proxy& to = made->to_;
    const Work work = made->work_;
    static_assert(std::is_trivially_destructible_v<parallel_operation>);
    if (made->on_heap_) delete made;
    const auto token = to.template try_query<ex::inplace_stop_token>(ex::get_stop_token);
    if (token && token->stop_requested()) return to.set_stopped();
    work();
    to.set_value();
  }

  replacement::receiver_proxy& to_;
  const Work work_;
  const bool on_heap_;
  scheduled_call call_{&complete, this};
};

class parallel_backend final : public replacement::parallel_scheduler_backend {
 public:
  void schedule(replacement::receiver_proxy& to, std::span<std::byte> scratch) noexcept override {
    start(to, scratch, []() noexcept {});
  }
  void schedule_bulk_chunked(std::size_t count, replacement::bulk_item_receiver_proxy& to,
                             std::span<std::byte> scratch) noexcept override {
    start(to, scratch, [count, &to]() noexcept {
      fj::parallel_for_blocks(std::size_t(0), count,
                              [&](std::size_t first, std::size_t last) { to.execute(first, last); });
    });
  }
  void schedule_bulk_unchunked(std::size_t count, replacement::bulk_item_receiver_proxy& to,
                               std::span<std::byte> scratch) noexcept override {
    start(to, scratch, [count, &to]() noexcept {
      fj::parallel_for_blocks(std::size_t(0), count, [&](std::size_t first, std::size_t last) {
        for (; first < last; ++first) to.execute(first, first + 1);
      });
    });
  }

 private:
  template <class Work>
  static void start(replacement::receiver_proxy& to, std::span<std::byte> scratch, Work work) noexcept {
    parallel_operation<Work>::start(to, scratch, work);
  }
};

}}}  // namespace fj::v0_4::detail

/// For the library of senders: the standard's replaceable function.
std::shared_ptr<fj::detail::replacement::parallel_scheduler_backend>
fj::detail::replacement::query_parallel_scheduler_backend() {
  static auto* const only = new fj::detail::parallel_backend();  // also what runs at exit may use it
  return {std::shared_ptr<void>(), only};
}

#endif
