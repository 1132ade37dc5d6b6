// The containers of an installed oneTBB, beside these names: its own headers, read under another name for its
// namespace, and what they call of its runtime. So a program needs no libtbb, and sources over oneTBB may be linked
// with it: nothing has the same name twice.
//
//     #define tbb fj_onetbb
//     #include <oneapi/tbb/detail/../concurrent_vector.h>
//     #undef tbb
//
// The path leads through a folder that this library's headers have not, so it is oneTBB's header that is found.
#pragma once

#include "../blocked_range.h"
#include "../cache_aligned_allocator.h"
#include "../enumerable_thread_specific.h"
#include "../partitioner.h"
#include "../tbb_allocator.h"
#include "left_out.h"

#if !FORKJOIN_TBB_CONTAINERS
#error \
    "forkjoin has no containers of its own: <tbb/concurrent_*.h> are oneTBB's, beside these names. Install it (Debian: libtbb-dev), or give its include folder by -I."
#endif

// What theirs include of the standard library, under its own names.
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cfenv>
#include <chrono>
#include <climits>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <list>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

// Of these headers ours are there; theirs are passed over.
#define __TBB_blocked_range_H
#define __TBB_cache_aligned_allocator_H
#define __TBB_enumerable_thread_specific_H
#define __TBB_tbb_allocator_H
#define __TBB_version_H

namespace fj_onetbb {

using ::tbb::blocked_range;
using ::tbb::cache_aligned_allocator;
using ::tbb::enumerable_thread_specific;
using ::tbb::tbb_allocator;

namespace detail {

using ::tbb::blocked_range;
using ::tbb::cache_aligned_allocator;
using ::tbb::enumerable_thread_specific;
using ::tbb::tbb_allocator;

// Their runtime.
namespace r1 {

inline constexpr std::size_t cache_line = 128;

inline void* cache_aligned_allocate(std::size_t size) { return ::operator new(size, std::align_val_t(cache_line)); }
inline void cache_aligned_deallocate(void* memory) { ::operator delete(memory, std::align_val_t(cache_line)); }
inline std::size_t cache_line_size() { return cache_line; }

}  // namespace r1

}  // namespace detail

}  // namespace fj_onetbb

// What divides their ranges is this library's: theirs get other names, and are used nowhere.
#define tbb fj_onetbb
#include <oneapi/tbb/detail/_config.h>
#include <oneapi/tbb/detail/_utils.h>
#define split split_of_onetbb
#define proportional_split proportional_split_of_onetbb
#include <oneapi/tbb/detail/_range_common.h>
#undef split
#undef proportional_split
#include <oneapi/tbb/detail/_exception.h>
#undef tbb

namespace fj_onetbb { namespace detail {
using ::tbb::proportional_split;
using ::tbb::split;
}}  // namespace fj_onetbb::detail

namespace tbb {

/// What a push and a pop of a tbb::concurrent_bounded_queue throw if abort is called while they wait.
class user_abort : public std::exception {
 public:
  const char* what() const noexcept override { return "tbb: abort was called while this call waited"; }
};

/// More elements than there was room for, in a tbb::concurrent_vector of which a growth failed.
class bad_last_alloc : public std::bad_alloc {
 public:
  const char* what() const noexcept override { return "tbb: a growth of this container failed before"; }
};

}  // namespace tbb

namespace fj_onetbb { namespace detail { namespace r1 {

inline void throw_exception(exception_id what) {
  ::tbb::fj_detail::runtimes::all().may_end_at_exception();
  switch (what) {
    case exception_id::bad_alloc:
      throw std::bad_alloc();
    case exception_id::bad_last_alloc:
      throw ::tbb::bad_last_alloc();
    case exception_id::out_of_range:
      throw std::out_of_range("tbb: the index is out of range");
    case exception_id::reservation_length_error:
      throw std::length_error("tbb: the container cannot be that large");
    case exception_id::invalid_load_factor:
      throw std::out_of_range("tbb: the load factor is not above 0");
    case exception_id::invalid_key:
      throw std::out_of_range("tbb: the container has no such key");
    default:
      throw std::runtime_error("tbb: a container of oneTBB failed");
  }
}

inline void assertion_failure(const char* where, int line, const char* expression, const char* comment) {
  std::fprintf(stderr, "Assertion %s failed (located in the %s function, line in file: %d)\n%s%s", expression, where,
               line, comment ? comment : "", comment ? "\n" : "");
  std::abort();
}

}}}  // namespace fj_onetbb::detail::r1
