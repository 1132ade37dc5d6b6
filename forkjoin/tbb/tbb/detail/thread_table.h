// Which value a thread has: an open table that a thread reads without a lock.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

namespace tbb { namespace fj_detail {

using thread_key = std::uintptr_t;

/// Never 0. A strand may continue on another thread: call it in functions that are not inlined alone, as compilers take
/// the result for constant.
inline thread_key this_thread_key() noexcept {
#if __has_builtin(__builtin_thread_pointer)
  return std::bit_cast<thread_key>(
      __builtin_thread_pointer());  // without the call that get_id makes: 1.6 ns a look, not 4.1
#else
  return std::bit_cast<thread_key>(std::this_thread::get_id());
#endif
}

/// find may run at the same time as all but clear, swap and the destructor; calls of insert follow each other.
class thread_table {
 public:
  thread_table() = default;
  thread_table(thread_table&& other) noexcept { swap(other); }
  ~thread_table() { delete newest_.load(std::memory_order_relaxed); }

  /// The calling thread's value, or nullptr. Not inlined: see this_thread_key.
  [[gnu::noinline]] void* find() const noexcept {
    // acquire: pairs with the release in insert. A thread's own entry was written by itself or before the table was
    // published.
    const table* const in = newest_.load(std::memory_order_acquire);
    if (!in) return nullptr;
    const thread_key me = this_thread_key();
    for (std::size_t i = in->first_place(me);; ++i) {
      const entry& at = in->entries[i & in->mask];
      const thread_key found = at.thread.load(std::memory_order_relaxed);
      if (found == me) return at.value;
      if (found == 0) return nullptr;
    }
  }

  void insert(thread_key thread, void* value) {
    table* in = newest_.load(std::memory_order_relaxed);
    if (!in || 2 * (in->used + 1) > in->mask + 1) {
      auto wider = std::make_unique<table>(in ? 2 * (in->mask + 1) : 16);
      for (std::size_t i = 0; in && i <= in->mask; ++i)
        if (const thread_key old = in->entries[i].thread.load(std::memory_order_relaxed))
          wider->add(old, in->entries[i].value);
      wider->add(thread, value);
      wider->older.reset(in);  // threads may still read it
      // release: pairs with the acquire in find
      newest_.store(wider.release(), std::memory_order_release);
    } else {
      in->add(thread, value);
    }
  }

  void clear() noexcept { delete newest_.exchange(nullptr, std::memory_order_relaxed); }

  void swap(thread_table& other) noexcept {
    other.newest_.store(newest_.exchange(other.newest_.load(std::memory_order_relaxed), std::memory_order_relaxed),
                        std::memory_order_relaxed);
  }

 private:
  struct entry {
    std::atomic<thread_key> thread = 0;
    void* value = nullptr;
  };
  struct table {
    explicit table(std::size_t size)
        : mask(size - 1), shift(64 - std::countr_zero(size)), entries(std::make_unique<entry[]>(size)) {}

    // Threads' numbers are addresses that have much in common: a product spreads them (Fibonacci hashing).
    std::size_t first_place(thread_key thread) const noexcept {
      return static_cast<std::size_t>(std::uint64_t{thread} * 0x9e37'79b9'7f4a'7c15u >> shift);
    }
    void add(thread_key thread, void* value) noexcept {
      std::size_t i = first_place(thread);
      while (entries[i & mask].thread.load(std::memory_order_relaxed) != 0) ++i;
      entries[i & mask].value = value;
      entries[i & mask].thread.store(thread, std::memory_order_relaxed);
      ++used;
    }

    std::size_t mask, used = 0;
    int shift;
    std::unique_ptr<entry[]> entries;
    std::unique_ptr<table> older;
  };

  std::atomic<table*> newest_ = nullptr;
};

}}  // namespace tbb::fj_detail
