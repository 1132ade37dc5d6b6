#include "runtime/os/memory/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>

#include "runtime/os/memory/memory_checker.hpp"

// The headers of some distributions are older than this.
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

// The guard, and what it cuts off.
constexpr long mappings_per_guard = 2;
std::atomic<long> mappings_of_guards{0};  // relaxed: a count

// What the system says when it is asked first. More than one thread may ask. No static variable that makes itself: in
// the copy that fork(2) makes of a process while another thread makes it, it would never be ready.
template <auto Ask>
auto asked_once() noexcept {
  static constinit std::atomic<decltype(Ask())> known{0};  // relaxed: each value is the same
  auto value = known.load(std::memory_order_relaxed);
  if (value == 0) known.store(value = Ask(), std::memory_order_relaxed);
  return value;
}

long most_mappings_of_guards() noexcept {
  return asked_once<[] {
    long limit = 65'530;  // Linux's own
    if (std::FILE* const file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
      if (std::fscanf(file, "%ld", &limit) != 1) limit = 65'530;
      std::fclose(file);
    }
    return limit / 100 * 45;
  }>();
}

}  // namespace

std::size_t page_size() noexcept {
  return asked_once<[] { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }>();
}

std::size_t round_to_pages(std::size_t bytes) noexcept { return (bytes + page_size() - 1) & ~(page_size() - 1); }

std::byte* reserve_pages(std::size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // One touched page of a stack must not become 2 MiB. This is advice only: a kernel without huge pages may refuse.
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  fresh(memory, bytes);
  return static_cast<std::byte*>(memory);
}

bool guard_pages(std::byte* begin, std::size_t bytes) noexcept {
  return madvise(begin, bytes, MADV_GUARD_INSTALL) == 0 || mprotect(begin, bytes, PROT_NONE) == 0;
}

guard guard_pages_sparingly(std::byte* begin, std::size_t bytes) noexcept {
  if (madvise(begin, bytes, MADV_GUARD_INSTALL) == 0) return guard::region;
  const long before = mappings_of_guards.fetch_add(mappings_per_guard, std::memory_order_relaxed);
  if (before + mappings_per_guard <= most_mappings_of_guards() && mprotect(begin, bytes, PROT_NONE) == 0)
    return guard::mapping;
  forget_guard(guard::mapping);
  return guard::none;
}

void forget_guard(guard was) noexcept {
  if (was == guard::mapping) mappings_of_guards.fetch_sub(mappings_per_guard, std::memory_order_relaxed);
}

void guard_pages_if_free(std::byte* begin, std::size_t bytes) noexcept { madvise(begin, bytes, MADV_GUARD_INSTALL); }

void discard_pages(std::byte* begin, std::size_t bytes) noexcept { madvise(begin, bytes, MADV_DONTNEED); }

void prepare_pages(std::byte* begin, std::size_t bytes) noexcept {
  madvise(begin, bytes, MADV_POPULATE_WRITE);  // advice only: Linux before 5.14 does not know it
}

bool is_resident(const std::byte* address) noexcept {
  const auto page = reinterpret_cast<std::uintptr_t>(address) & ~(page_size() - 1);
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(page), 1, &resident) == 0 && (resident & 1);
}

void release_pages(std::byte* begin, std::size_t bytes) noexcept { munmap(begin, bytes); }

}}}}  // namespace fj::v0_4::detail::os
