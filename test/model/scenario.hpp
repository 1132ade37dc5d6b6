// A few threads, each with a few steps, and what must hold during and after every interleaving of them.
#pragma once

#include <cstddef>
#include <new>

#include "test/model/machine.hpp"

namespace model {

class scenario : public surroundings {
 public:
  scenario() = default;
  scenario(const scenario&) = delete;
  scenario& operator=(const scenario&) = delete;

  virtual void thread(unsigned index) = 0;

  /// When all threads have ended.
  virtual void after() {}
};

struct named_scenario {
  const char* name;
  unsigned interleavings;  ///< how many are tried unless told otherwise
  scenario* (*make)(void* storage);
};

inline constexpr std::size_t scenario_size = 64 * 1024;

template <class T>
scenario* make(void* storage) {
  static_assert(sizeof(T) <= scenario_size && alignof(T) <= 64);
  return new (storage) T;
}

/// Of the source that is linked with main.cpp; a nameless one ends them.
extern const named_scenario scenarios[];

}  // namespace model
