#include "runtime/os/memory/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "runtime/os/memory/memory_checker.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

constexpr int readable = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_ANONYMOUS;

// A guard and what it cuts off are two mappings. Systems have bounds on these, and others need some, too: half of what
// Linux allows.
constexpr long most_guards = 16'000;
std::atomic<long> guards{0};  // relaxed: a count

}  // namespace

std::size_t page_size() noexcept {
  static constinit std::atomic<std::size_t> known{0};  // relaxed: each value is the same
  std::size_t value = known.load(std::memory_order_relaxed);
  if (value == 0) known.store(value = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), std::memory_order_relaxed);
  return value;
}

std::size_t round_to_pages(std::size_t bytes) noexcept { return (bytes + page_size() - 1) & ~(page_size() - 1); }

std::byte* reserve_pages(std::size_t bytes) noexcept {
  void* const memory = mmap(nullptr, bytes, readable, own, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  fresh(memory, bytes);
  return static_cast<std::byte*>(memory);
}

bool guard_pages(std::byte* begin, std::size_t bytes) noexcept { return mprotect(begin, bytes, PROT_NONE) == 0; }

guard guard_pages_sparingly(std::byte* begin, std::size_t bytes) noexcept {
  if (guards.fetch_add(1, std::memory_order_relaxed) < most_guards && guard_pages(begin, bytes)) return guard::mapping;
  forget_guard(guard::mapping);
  return guard::none;
}

void forget_guard(guard was) noexcept {
  if (was == guard::mapping) guards.fetch_sub(1, std::memory_order_relaxed);
}

void guard_pages_if_free(std::byte*, std::size_t) noexcept {}

// A new mapping in place of the old one: no advice of POSIX gives memory back. Where the system refuses one, zeros are
// stored.
void discard_pages(std::byte* begin, std::size_t bytes) noexcept {
  if (mmap(begin, bytes, readable, own | MAP_FIXED, -1, 0) == MAP_FAILED)
    for (std::size_t i = 0; i < bytes; ++i) begin[i] = std::byte{0};
}

void prepare_pages(std::byte*, std::size_t) noexcept {}

bool is_resident(const std::byte*) noexcept { return true; }

void release_pages(std::byte* begin, std::size_t bytes) noexcept { munmap(begin, bytes); }

}}}}  // namespace fj::v0_4::detail::os
