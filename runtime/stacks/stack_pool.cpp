#include "runtime/stacks/stack_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

#include "forkjoin/abi/cache_line.hpp"
#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/base/prefetch.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/memory/memory_checker.hpp"
#include "runtime/os/memory/pages.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// About as much as a strand uses that forks and waits for a channel. With 10,000 that wait, a block costs a quarter
// more by 512.
constexpr std::size_t prefetched_stack = 1024;

// A free fiber, and so many bytes below the top of its stack.
void prefetch_free(const fiber& f, std::size_t below) noexcept {
  prefetch(reinterpret_cast<const std::byte*>(&f) - below, below + sizeof(fiber));
}

}  // namespace

stack_pool::stack_pool(std::size_t stack_size, std::atomic<unsigned>& numbers, std::size_t small_guard) noexcept
    : is_small_(small_guard > 0),
      stack_size_(os::round_to_pages(stack_size)),
      guard_(os::round_to_pages(is_small_ ? small_guard : guard_size)),
      numbers_(numbers) {}

stack_pool::~stack_pool() {
  // From the top: a part from the middle of a mapping makes two of it, and a process may have few.
  std::sort(idle_.begin(), idle_.end(),
            [](const fiber* a, const fiber* b) { return std::less<>()(b->mapping, a->mapping); });
  for (fiber* const f : idle_) {
    std::byte* const mapping = f->mapping;
    const std::size_t size = f->mapping_size;
    os::drop_context(f->context);
    if (is_small_) os::forget_guard(f->guard);
    f->~fiber();
    os::release_pages(mapping, size);
  }
  if (reserved_bytes_ > 0) os::release_pages(reserved_, reserved_bytes_);
}

// The highest part of a reservation. Each reservation has room for twice as many as the one before, up to a bound.
std::byte* stack_pool::reserve(std::size_t bytes) noexcept {
  if (reserved_bytes_ == 0) {
    while (!(reserved_ = os::reserve_pages(at_once_ * bytes)))
      if (std::exchange(at_once_, 1) == 1) return nullptr;
    reserved_bytes_ = at_once_ * bytes;
    if (2 * reserved_bytes_ <= tuning::most_reserved_for_stacks) at_once_ *= 2;
  }
  reserved_bytes_ -= bytes;
  return reserved_ + reserved_bytes_;
}

bool stack_pool::make_room() noexcept {
  const std::size_t needed = mapped_.load(std::memory_order_relaxed) + std::size_t{1};
  try {
    if (idle_.capacity() < needed) idle_.reserve(2 * needed);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

fiber* stack_pool::map() noexcept {
  if (!make_room()) return nullptr;
  const std::size_t inner =
      guard_ + (is_small_ ? stack_size_ : os::round_to_pages(stack_size_ + colours * colour_size + sizeof(fiber)));
  // An array above, on the heap perhaps, must not reach the fiber when a program runs over its lower end.
  const std::size_t above = is_small_ ? 0 : os::page_size();
  const std::size_t bytes = inner + above;
  const bool first = reserved_bytes_ == 0;
  std::byte* const mapping = reserve(bytes);
  if (!mapping) return nullptr;
  os::guard guarded = os::guard::region;
  if (is_small_) {
    guarded = os::guard_pages_sparingly(mapping, guard_);
  } else {
    const std::size_t above_next = reserved_bytes_ > 0 ? above : 0;  // with one call
    if (!os::guard_pages(mapping - above_next, above_next + guard_)) {
      os::release_pages(mapping, bytes);
      return nullptr;
    }
    if (first) os::guard_pages_if_free(mapping + inner, above);
  }
  // Not at the same place of a page in all fibers, or nested children would compete for the same few sets of the cache.
  const std::size_t room = (sizeof(fiber) + cache_line - 1) / cache_line * cache_line +
                           mapped_.load(std::memory_order_relaxed) % colours * colour_size;
  auto* const f = new (mapping + inner - room) fiber;
  f->mapping = mapping;
  f->mapping_size = bytes;
  f->guard_size = guard_;
  f->guard = guarded;
  f->pool = this;
  os::give_stack(f->context, f->stack_bottom(), f->stack_size());
  os::happens_before(f);
  return f;
}

fiber* stack_pool::take(stack_tally* whose) noexcept {
  const locked lock(mutex_);
  fiber* const f = take_one(whose);
  // If thousands of strands wait, the free stack that was used last has left the caches: the next caller need not wait
  // for it. A job's fiber may wait for a worker before it uses its stack.
  if (!idle_.empty()) prefetch_free(*idle_.back(), whose ? prefetched_stack : 0);
  return f;
}

fiber* stack_pool::take_one(stack_tally* whose) noexcept {
  fiber* f = nullptr;
  if (!idle_.empty()) {
    f = idle_.back();
    idle_.pop_back();
  } else {
    f = map();
    if (!f) return nullptr;
    mapped_.fetch_add(1, std::memory_order_relaxed);
    f->number = numbers_.fetch_add(1, std::memory_order_relaxed) + 1;
    f->mapped_before = all_.load(std::memory_order_relaxed);
    all_.store(f, std::memory_order_release);  // pairs with the acquire in stack_pool.hpp: for_each
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
  const locked lock(mutex_);
  give_one(*idle);
}

void stack_pool::give_one(fiber& idle) noexcept {
  if (stack_tally* const whose = idle.counted)
    whose->give_back();  // here, so that all counts change at the same moment
  idle_.push_back(&idle);
  in_use_.store(in_use_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

void stack_pool::fill(stack_cache& kept) noexcept {
  const locked lock(mutex_);
  do {
    fiber* const f = take_one(nullptr);
    if (!f) return;
    prefetch_free(*f, cache_line);  // and the frame that a fresh context has
    kept.push(*f);
  } while (kept.count() < stack_cache::limit / 2 && !idle_.empty());
}

void stack_pool::take_back(stack_cache& kept, std::size_t but) noexcept {
  if (kept.count() <= but) return;
  const locked lock(mutex_);
  while (kept.count() > but) give_one(kept.pop());
}

namespace {

// To give pages back takes about as long as a theft, also if there are none; to ask the system which of them were
// touched takes twenty times as long. So trim_stack puts marks on the last page of the part that it keeps. A strand
// that goes deeper afterwards overwrites a mark, unless a frame steps over all of them. For such frames trim_stack
// gives all back now and then. The marks are a prime number of words apart, so that the unused words in the frames of a
// recursion, which are at the same place in each frame, do not meet every mark.
//
// The marks touch a page. Where thousands of strands wait, each for the first time on a new stack, that would be a
// third of their memory and of their time. So the first trims of a stack ask the system whether the first dead page was
// touched.
constexpr std::uint64_t mark = 0x9e3779b97f4a7c15;
constexpr std::size_t marks = 8;
constexpr std::size_t mark_distance = 61 * sizeof(mark);
constexpr std::size_t marked_bytes = marks * mark_distance;
constexpr unsigned trims_per_discard = 16;
constexpr unsigned trims_without_marks = 2;  // a strand that waits once, and ends
// Less is not worth the look: with thousands of waiting strands the marks of each are a miss of the TLB and eight of
// the cache.
constexpr std::size_t least_dead = 3 * stack_pool::kept_bytes;

bool are_whole(const std::byte* begin) noexcept {
  std::uint64_t differences = 0;
  for (std::size_t i = 0; i < marks; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, begin + i * mark_distance, sizeof(word));
    differences |= word ^ mark;
  }
  return differences == 0;
}

void put_marks(std::byte* begin) noexcept {
  for (std::size_t i = 0; i < marks; ++i) std::memcpy(begin + i * mark_distance, &mark, sizeof(mark));
}

}  // namespace

void trim_stack(fiber& f, const std::byte* used) noexcept {
  const std::size_t page = os::page_size();
  std::byte* const bottom = f.stack_bottom();
  std::byte* const top = f.stack_top();
  const auto in_use = static_cast<std::size_t>(top - used);
  // If marks can be put below the part in use, the part that is kept ends at the same place every time.
  const bool may_mark =
      !os::stacks_are_checked && f.trims >= trims_without_marks && in_use + marked_bytes <= stack_pool::kept_bytes;
  const std::size_t kept = may_mark ? stack_pool::kept_bytes : in_use + stack_pool::kept_bytes;
  const bool marked = f.marked && may_mark;
  f.marked = may_mark;
  if (f.stack_size() < kept + least_dead) return;
  const std::size_t dead = (f.stack_size() - kept) / page * page;
  // A strand that went deeper has touched the first dead page, unless a frame stepped over it.
  const bool seems_clean = may_mark ? marked && are_whole(top - kept) : !os::is_resident(bottom + dead - page);
  if (may_mark && !seems_clean) put_marks(top - kept);
  f.trims = f.trims + 1;
  if (seems_clean && f.trims % trims_per_discard != 0) return;
  os::discard_pages(bottom, dead);
}

}}}  // namespace fj::v0_4::detail
