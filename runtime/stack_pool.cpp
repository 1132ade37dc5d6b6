#include "runtime/stack_pool.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "runtime/os/memory_checker.hpp"
#include "runtime/os/pages.hpp"
#include "runtime/os/race_detector.hpp"

namespace fj::detail {

stack_pool::stack_pool(std::size_t stack_size) noexcept : stack_size_(os::round_to_pages(stack_size)) {}

stack_pool::~stack_pool() {
  while (fiber* f = idle_.pop()) {
    std::byte* const mapping = f->mapping;
    const std::size_t size = f->mapping_size;
    os::drop_context(f->context);
    f->~fiber();
    os::release_pages(mapping, size);
  }
}

fiber* stack_pool::map() noexcept {
  const std::size_t bytes = os::round_to_pages(guard_size + stack_size_ + colours * colour_size + sizeof(fiber));
  std::byte* const mapping = os::reserve_pages(bytes);
  if (!mapping) return nullptr;
  if (!os::guard_pages(mapping, guard_size)) {
    os::release_pages(mapping, bytes);
    return nullptr;
  }
  // Not at the same place of a page in all of them, or nested children would compete for the same few sets of the cache.
  const std::size_t room = (sizeof(fiber) + cache_line - 1) / cache_line * cache_line + mapped_ % colours * colour_size;
  auto* const f = new (mapping + bytes - room) fiber;
  f->mapping = mapping;
  f->mapping_size = bytes;
  f->guard_size = guard_size;
  f->pool = this;
  os::give_stack(f->context, f->stack_bottom(), f->stack_size());
  os::publish(f);
  return f;
}

fiber* stack_pool::take(stack_tally* whose) noexcept {
  std::scoped_lock guard(mutex_);
  fiber* f = idle_.pop();
  if (!f) {
    f = map();
    if (!f) return nullptr;
    f->number = ++mapped_;
  }
  const std::size_t in_use = in_use_.load(std::memory_order_relaxed) + 1;
  in_use_.store(in_use, std::memory_order_relaxed);
  peak_.store(std::max(in_use, peak()), std::memory_order_relaxed);
  f->counted = whose;
  if (whose) whose->take();
  return f;
}

void stack_pool::give(fiber* idle) noexcept {
  trim_stack(*idle, idle->stack_top());
  std::scoped_lock guard(mutex_);
  if (stack_tally* const whose = idle->counted)
    whose->give_back();  // here, so that all counts tell of the same moments
  idle_.push(idle);
  in_use_.store(in_use_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

namespace {

// To ask the system which pages were touched takes longer than a theft. So there is a line at the end of the part of a stack
// that is kept, by which to see whether anybody went deeper: then he wrote over it, unless one frame stepped over it.
constexpr auto watermark = [] {
  std::array<std::uint64_t, cache_line / sizeof(std::uint64_t)> words{};
  for (std::uint64_t& word : words) word = 0x9e3779b97f4a7c15;
  return words;
}();

// Whether nobody did since the last time; leaves it there for the next.
bool stayed_above(fiber& f, std::byte* line) noexcept {
  if (f.watermarked && std::memcmp(line, watermark.data(), sizeof(watermark)) == 0) return true;
  std::memcpy(line, watermark.data(), sizeof(watermark));
  f.watermarked = true;
  return false;
}

}  // namespace

void trim_stack(fiber& f, const std::byte* used) noexcept {
  const std::size_t page = os::page_size();
  std::byte* const bottom = f.stack_bottom();
  const auto above = static_cast<std::size_t>(used - bottom);
  if (above <= stack_pool::kept_bytes + page) return;
  const std::size_t dead = (above - stack_pool::kept_bytes) / page * page;
  std::byte* const line = f.stack_top() - stack_pool::kept_bytes;
  const bool may_write = !os::stacks_are_checked && used >= line + sizeof(watermark);
  // Otherwise the system is asked: whoever went deeper has touched the first dead page, or stepped over that.
  if (may_write ? stayed_above(f, line) : !os::is_resident(bottom + dead - page)) return;
  os::discard_pages(bottom, dead);
}

}  // namespace fj::detail
