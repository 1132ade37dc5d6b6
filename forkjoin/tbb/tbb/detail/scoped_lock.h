// oneTBB's scoped_lock over a lock of the standard library's shape.
#pragma once

#include "../version.h"

#include <condition_variable>
#include <mutex>
#include <type_traits>
#include <utility>

namespace tbb { namespace fj_detail {

template <class Mutex>
class unique_scoped_lock {
 public:
  unique_scoped_lock() = default;
  explicit unique_scoped_lock(Mutex& m) { acquire(m); }
  ~unique_scoped_lock() {
    if (held_) release();
  }
  unique_scoped_lock(const unique_scoped_lock&) = delete;
  unique_scoped_lock& operator=(const unique_scoped_lock&) = delete;

  void acquire(Mutex& m) {
    m.lock();
    held_ = &m;
  }
  bool try_acquire(Mutex& m) {
    if (!m.try_lock()) return false;
    held_ = &m;
    return true;
  }
  void release() {
    held_->unlock();
    held_ = nullptr;
  }

 private:
  Mutex* held_ = nullptr;
};

template <class Mutex>
class shared_scoped_lock {
 public:
  shared_scoped_lock() = default;
  explicit shared_scoped_lock(Mutex& m, bool write = true) { acquire(m, write); }
  ~shared_scoped_lock() {
    if (held_) release();
  }
  shared_scoped_lock(const shared_scoped_lock&) = delete;
  shared_scoped_lock& operator=(const shared_scoped_lock&) = delete;

  void acquire(Mutex& m, bool write = true) {
    write ? m.lock() : m.lock_shared();
    held_ = &m;
    writes_ = write;
  }
  bool try_acquire(Mutex& m, bool write = true) {
    if (!(write ? m.try_lock() : m.try_lock_shared())) return false;
    held_ = &m;
    writes_ = write;
    return true;
  }
  void release() {
    writes_ ? held_->unlock() : held_->unlock_shared();
    held_ = nullptr;
  }
  /// False: another writer may have come between.
  bool upgrade_to_writer() {
    if (std::exchange(writes_, true)) return true;
    if constexpr (excludes_nobody)
      return true;
    else
      return held_->upgrade();
  }
  bool downgrade_to_reader() {
    if (!std::exchange(writes_, false)) return true;
    if constexpr (!excludes_nobody) held_->downgrade();
    return true;
  }
  bool is_writer() const { return writes_; }

 private:
  static constexpr bool excludes_nobody = std::is_empty_v<Mutex>;  // null_rw_mutex

  Mutex* held_ = nullptr;
  bool writes_ = false;
};

/// As oneTBB's, these block their thread: for parts that neither fork nor wait. Strands that do use fj::mutex. Self:
/// the class of that name.
template <class Self>
class exclusive : public std::mutex {
 public:
  using scoped_lock = unique_scoped_lock<Self>;
  static constexpr bool is_rw_mutex = false, is_recursive_mutex = false, is_fair_mutex = false;
};

template <class Self>
class shared {
 public:
  using scoped_lock = shared_scoped_lock<Self>;
  static constexpr bool is_rw_mutex = true, is_recursive_mutex = false, is_fair_mutex = false;

  void lock() {
    std::unique_lock held(mutex_);
    ++writers_;
    free_.wait(held, [&] { return !writes_ && readers_ == 0; });
    --writers_;
    writes_ = true;
  }
  bool try_lock() {
    const std::scoped_lock held(mutex_);
    if (writes_ || readers_ != 0) return false;
    return writes_ = true;
  }
  void unlock() {
    change([&] { writes_ = false; });
  }
  void lock_shared() {
    std::unique_lock held(mutex_);
    free_.wait(held, [&] { return is_free_to_read(); });
    ++readers_;
  }
  bool try_lock_shared() {
    const std::scoped_lock held(mutex_);
    if (!is_free_to_read()) return false;
    ++readers_;
    return true;
  }
  void unlock_shared() {
    change([&] { --readers_; });
  }

 private:
  friend scoped_lock;

  // A writer that waits goes before new readers, as there.
  bool is_free_to_read() const { return !writes_ && writers_ == 0; }

  template <class F>
  void change(F f) {
    const std::scoped_lock held(mutex_);
    f();
    free_.notify_all();  // under the lock: who takes this mutex next may end it
  }

  /// By a reader: it becomes the writer once the others have gone. False if another reader does the same, and first:
  /// then it has waited without the lock.
  bool upgrade() {
    std::unique_lock held(mutex_);
    const bool is_first = !std::exchange(upgrades_, true);
    ++writers_;
    if (is_first) {
      free_.wait(held, [&] { return readers_ == 1; });
      upgrades_ = false;
      readers_ = 0;
    } else {
      --readers_;
      free_.notify_all();
      free_.wait(held, [&] { return !writes_ && readers_ == 0; });
    }
    --writers_;
    writes_ = true;
    return is_first;
  }
  void downgrade() {
    change([&] {
      writes_ = false;
      ++readers_;
    });
  }

  std::mutex mutex_;
  std::condition_variable free_;
  unsigned readers_ = 0;
  unsigned writers_ = 0;  // that wait
  bool writes_ = false;
  bool upgrades_ = false;  // a reader that waits to be the writer
};

}}  // namespace tbb::fj_detail
