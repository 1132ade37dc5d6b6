// What libstdc++'s parallel algorithms use of oneTBB's tasks (pstl/parallel_backend_tbb.h). Programs use
// tbb::task_group.
#pragma once

#include "detail/context.h"
#include "detail/left_out.h"
#include "detail/runtime.h"

#include <forkjoin/go.hpp>

#include <cstdint>
#include <new>
#include <utility>

namespace tbb {

namespace task {

/// nullptr where no algorithm or group runs this code.
inline task_group_context* current_context() { return fj_detail::current_context(); }

}  // namespace task

// Under a name of its own, as another source of the program may be over oneTBB, which has these names with other
// layouts.
namespace detail { namespace d1 { inline namespace forkjoin {

class wait_context {
 public:
  explicit wait_context(std::uint32_t count) { left_.add(count); }
  void reserve(std::uint32_t n = 1) { left_.add(n); }
  void release(std::uint32_t n = 1) { left_.add(-static_cast<std::int64_t>(n)); }
  void wait() { left_.wait(); }

 private:
  fj::wait_group left_;
};

struct execution_data {
  task_group_context* context;
};

class task {
 public:
  virtual ~task() = default;
  /// What is to be run next, or nullptr.
  virtual task* execute(execution_data&) = 0;
  virtual task* cancel(execution_data&) = 0;
};

class small_object_allocator {
 public:
  template <class T, class... Arguments>
  T* new_object(execution_data&, Arguments&&... arguments) {
    return new_object<T>(std::forward<Arguments>(arguments)...);
  }
  template <class T, class... Arguments>
  T* new_object(Arguments&&... arguments) {
    void* const room = ::operator new(sizeof(T), std::align_val_t(alignof(T)));
    try {
      return ::new (room) T(std::forward<Arguments>(arguments)...);
    } catch (...) {
      ::operator delete(room, std::align_val_t(alignof(T)));
      throw;
    }
  }
  template <class T>
  void delete_object(T* object, const execution_data&) {
    object->~T();
    ::operator delete(object, std::align_val_t(alignof(T)));
  }
  template <class T>
  void deallocate(T* object, const execution_data&) {
    ::operator delete(object, std::align_val_t(alignof(T)));
  }
};

/// An exception ends the process, as the standard asks for.
[[gnu::noinline]] inline void run_chain(task& first, task_group_context& context) noexcept {
  execution_data data{&context};
  const auto call = [&](task& each) {
    const fj_detail::body_frame here(&context, __builtin_frame_address(0));
    return context.is_group_execution_cancelled() ? each.cancel(data) : each.execute(data);
  };
  for (task* next = &first; next;) next = call(*next);
}

inline void spawn(task& t, task_group_context& context) {
  static auto* const all = new fj::task_group;
  all->run([&t, &context] { run_chain(t, context); });
}

inline void execute_and_wait(task& t, task_group_context& context, wait_context& left, task_group_context&) {
  fj_detail::enter([&] {
    run_chain(t, context);
    left.wait();
  });
}

}}}  // namespace detail::d1::forkjoin

}  // namespace tbb
