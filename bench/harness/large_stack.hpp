// For libraries that run a program on the caller's stack: a chain of forks is deep.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace bench {

inline constexpr std::size_t large_stack = std::size_t{64} << 20;  // of address space

/// Calls f on a thread with such a stack.
template <class F>
void on_large_stack(F f) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, large_stack);
  const auto call = [](void* of) -> void* {
    (*static_cast<F*>(of))();
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, call, &f) == 0) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace bench
