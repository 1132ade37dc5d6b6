#include "forkjoin/forkjoin.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/fork_join.hpp"
#include "forkjoin/go/blocking.hpp"
#include "forkjoin/go/future.hpp"
#include "forkjoin/go/sleep.hpp"
#include "forkjoin/loops/chunks.hpp"
#include "forkjoin/loops/split_loop.hpp"
#include "forkjoin/run.hpp"
#include "runtime/os/exception_type.hpp"
#include "runtime/os/thread.hpp"

struct fj_fiber {
  fj::future<void> end;
};

namespace fj { inline namespace v0_4 { namespace detail { namespace {

// Of the thread's last failure. Only a text that is no constant takes memory, from the first such failure to the end of
// the thread: thread-local memory is scarce where dlopen loads the library (forkjoin/guide/packaging.md).
struct message {
  const char* text = "";
  char* copy = nullptr;
};
constinit thread_local message last_error;
constexpr std::size_t message_size = 256;

// These are read and written apart, because the strand may have changed its thread since the call began.
[[gnu::noinline]] void keep_constant(const char* text) noexcept { last_error.text = text; }

[[gnu::noinline]] void keep_copy(const char* text) noexcept {
  if (!last_error.copy) {
    last_error.copy = static_cast<char*>(std::malloc(message_size));
    if (!last_error.copy) return keep_constant("forkjoin: the message is lost, as there is no memory for it");
    const auto drop = [](void* of) {
      auto& over = *static_cast<message*>(of);
      std::free(over.copy);
      over = {};
    };
    os::at_thread_end(drop, &last_error);
  }
  std::snprintf(last_error.copy, message_size, "%s", text);
  last_error.text = last_error.copy;
}

[[gnu::noinline]] const char* kept_message() noexcept { return last_error.text; }

// What a function of the program's threw, apart from what the library throws.
struct thrown {
  std::exception_ptr error;
};

// Calls f, a function of the program's.
template <class F>
void call_theirs(const F& f) {
  try {
    f();
  } catch (...) {
    throw thrown{caught_exception()};
  }
}

fj_status fails(fj_status as, const char* constant) noexcept {
  keep_constant(constant);
  return as;
}
fj_status fails_saying(fj_status as, const char* text) noexcept {
  keep_copy(text);
  return as;
}

// In a handler of an exception that has no text.
fj_status fails_by_unknown() noexcept {
  try {
    return fails_saying(FJ_THROWN, ("an exception of type " + os::type_of_exception()).c_str());
  } catch (const std::bad_alloc&) {
    return fails(FJ_THROWN, "an exception");
  }
}

// In a handler of an exception.
fj_status fails_by_exception() noexcept {
  try {
    throw;
  } catch (const thrown& theirs) {
    try {
      std::rethrow_exception(theirs.error);
    } catch (const std::exception& e) {
      return fails_saying(FJ_THROWN, e.what());
    } catch (...) {
      return fails_by_unknown();
    }
  } catch (const std::bad_alloc&) {
    return fails(FJ_NO_MEMORY, "forkjoin: no memory for a fiber or its stack");
  } catch (const std::system_error& e) {
    return fails_saying(FJ_NO_THREAD, e.what());
  } catch (const std::invalid_argument& e) {
    return fails_saying(FJ_INVALID_ARGUMENT, e.what());
  } catch (const std::exception& e) {
    return fails_saying(FJ_TOO_LATE, e.what());
  }
}

// What f throws becomes a status.
template <class F>
fj_status status_of(const F& f) noexcept {
  try {
    f();
    return FJ_OK;
  } catch (...) {
    return fails_by_exception();
  }
}

// Loops of one function are expected to take as long as its last ones. Functions that share a place take each other's
// for their own.
pace& pace_of_body(const void* body) noexcept {
  static constinit pace known[64];
  const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(body) * 0x9e3779b97f4a7c15;
  return known[mixed >> 58];
}

void run_loop(std::int64_t first, std::size_t n, std::size_t grain, void (*body)(std::int64_t, std::int64_t, void*),
              void* context) {
  const auto part = [=](std::size_t begin, std::size_t end) {
    const auto from = static_cast<std::uint64_t>(first);  // wraps around where a signed sum may not
    call_theirs([&] { body(static_cast<std::int64_t>(from + begin), static_cast<std::int64_t>(from + end), context); });
  };
  pace& known = pace_of_body(reinterpret_cast<const void*>(body));
  const rest_of_loop rest = begin_loop_slow<first_part>(n, {.grain = grain}, known, part);
  if (rest.begin == n) return;
  part(rest.begin, n);
  rest.end(n, known);
}

constexpr std::size_t first_size = 40;    // of the first version's struct
constexpr std::size_t most_size = 4'096;  // no version's will have that

// The program's header may be of an earlier or later version.
fj_status read_options(const fj_options& wanted, fj_options& into) noexcept {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&wanted);
  if (wanted.size < first_size || wanted.size > most_size) {
    char text[128];
    std::snprintf(text, sizeof(text), "fj_set_options: the size is %zu; set it to sizeof(fj_options)", wanted.size);
    return fails_saying(FJ_INVALID_ARGUMENT, text);
  }
  for (std::size_t i = sizeof(into); i < wanted.size; ++i) {
    if (bytes[i] != 0)
      return fails(FJ_INVALID_ARGUMENT,
                   "fj_set_options: an option is set that this version of the library does not know; set it to 0, or "
                   "install the version that the program was compiled with");
  }
  into = {};
  std::memcpy(&into, &wanted, wanted.size < sizeof(into) ? wanted.size : sizeof(into));
  if (into.reserved != 0) return fails(FJ_INVALID_ARGUMENT, "fj_set_options: reserved is not 0; set it to 0");
  return FJ_OK;
}

}}}}  // namespace fj::v0_4::detail

namespace d = fj::detail;

const char* fj_last_error() noexcept { return d::kept_message(); }

fj_status fj_set_options(const fj_options* wanted) noexcept {
  if (!wanted) return d::fails(FJ_INVALID_ARGUMENT, "fj_set_options: the options are a null pointer");
  fj_options known;
  if (const fj_status s = d::read_options(*wanted, known); s != FJ_OK) return s;
  return d::status_of([&] {
    fj::default_options({.procs = known.procs,
                         .stack_size = known.stack_size,
                         .go_stack_size = known.go_stack_size,
                         .max_workers = known.max_workers,
                         .stats = known.stats != 0});
  });
}

fj_status fj_run(void (*call)(void*), void* context) noexcept {
  if (!call) return d::fails(FJ_INVALID_ARGUMENT, "fj_run: the function is a null pointer");
  return d::status_of([&] { fj::run([&] { d::call_theirs([&] { call(context); }); }); });
}

fj_status fj_fork_join(void (*first)(void*), void* first_context, void (*second)(void*),
                       void* second_context) noexcept {
  if (!first || !second) return d::fails(FJ_INVALID_ARGUMENT, "fj_fork_join: a function is a null pointer");
  return d::status_of([&] {
    fj::fork_join([&] { d::call_theirs([&] { first(first_context); }); },
                  [&] { d::call_theirs([&] { second(second_context); }); });
  });
}

fj_status fj_parallel_for(int64_t first, int64_t last, int64_t grain, void (*body)(int64_t, int64_t, void*),
                          void* context) noexcept {
  if (!body) return d::fails(FJ_INVALID_ARGUMENT, "fj_parallel_for: the body is a null pointer");
  if (grain < 0) {
    char text[128];
    std::snprintf(text, sizeof(text), "fj_parallel_for: the grain is %lld; 0 lets the library choose",
                  static_cast<long long>(grain));
    return d::fails_saying(FJ_INVALID_ARGUMENT, text);
  }
  if (last <= first) return FJ_OK;
  const auto n = static_cast<std::size_t>(last) - static_cast<std::size_t>(first);
  return d::status_of([&] { d::run_loop(first, n, static_cast<std::size_t>(grain), body, context); });
}

fj_status fj_go(void (*call)(void*), void* context, fj_fiber** started) noexcept {
  if (!call) return d::fails(FJ_INVALID_ARGUMENT, "fj_go: the function is a null pointer");
  return d::status_of([&] {
    if (!started) {
      static_cast<void>(fj::go([=] { call(context); }));
      return;
    }
    auto fiber = std::make_unique<fj_fiber>();
    fiber->end = fj::go([=] { d::call_theirs([&] { call(context); }); });
    *started = fiber.release();
  });
}

fj_status fj_wait(fj_fiber* started) noexcept {
  if (!started) return d::fails(FJ_INVALID_ARGUMENT, "fj_wait: the fiber is a null pointer");
  const std::unique_ptr<fj_fiber> fiber(started);
  return d::status_of([&] { fiber->end.get(); });
}

void fj_yield() noexcept { fj::yield(); }

fj_status fj_blocking(void (*call)(void*), void* context) noexcept {
  if (!call) return d::fails(FJ_INVALID_ARGUMENT, "fj_blocking: the function is a null pointer");
  return d::status_of([&] { fj::blocking([&] { d::call_theirs([&] { call(context); }); }); });
}

int32_t fj_procs() noexcept {
  int32_t procs = 0;
  d::status_of([&] { procs = static_cast<int32_t>(fj::procs()); });
  return procs;
}

int32_t fj_this_proc() noexcept { return fj::this_proc(); }
