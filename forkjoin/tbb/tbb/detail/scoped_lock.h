// oneTBB's scoped_lock over a lock of the standard library's shape.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <type_traits>

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
    if (writes_) return true;
    held_->unlock_shared();
    held_->lock();
    writes_ = true;
    return excludes_nobody;
  }
  bool downgrade_to_reader() {
    if (!writes_) return true;
    held_->unlock();
    held_->lock_shared();
    writes_ = false;
    return excludes_nobody;
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
class shared : public std::shared_mutex {
 public:
  using scoped_lock = shared_scoped_lock<Self>;
  static constexpr bool is_rw_mutex = true, is_recursive_mutex = false, is_fair_mutex = false;
};

}}  // namespace tbb::fj_detail
