// Where a strand waits, for messages.
#pragma once

#include <atomic>
#include <cstdint>

#include "forkjoin/abi/relaxed.hpp"
#include "forkjoin/abi/waiter.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// A wait_place, as other threads may read it while the strand comes and goes. What they read between two equal
/// versions that are even is of one wait, or of none. (A sequence lock; Boehm, "Can seqlocks get along with programming
/// language memory models?", 2012.)
class shown_wait_place {
 public:
  void show(const wait_place& p) noexcept {
    change([&] {
      what_ = p.what;
      file_ = p.at.file_name();
      function_ = p.at.function_name();
      line_ = p.at.line();
      ended_by_others_ = p.ended_by_others;
    });
  }
  void hide() noexcept {
    change([&] { what_ = nullptr; });
  }

  const char* what() const noexcept { return what_; }
  const char* file() const noexcept { return file_; }
  const char* function() const noexcept { return function_; }
  std::uint_least32_t line() const noexcept { return line_; }
  bool ended_by_others() const noexcept { return what_ && ended_by_others_; }

  /// Odd while the place changes. Before the other parts are read: acquire, pairs with the release at the end of
  /// change.
  std::uint32_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  /// After they were read: whether they belong to that version. The loads of the parts are acquires, so they come
  /// before this one, and each pairs with its store, a release, which comes after the odd version.
  bool is_still(std::uint32_t version) const noexcept {
    return version % 2 == 0 && version_.load(std::memory_order_relaxed) == version;
  }

 private:
  friend struct layout;

  // By the strand.
  template <class Store>
  void change(Store store) noexcept {
    const std::uint32_t before = version_.load(std::memory_order_relaxed);
    version_.store(before + 1, std::memory_order_relaxed);
    store();
    version_.store(before + 2, std::memory_order_release);  // release: pairs with the acquire in version
  }

  std::atomic<std::uint32_t> version_{0};
  published<const char*> what_ = nullptr, file_ = "", function_ = "";
  published<std::uint_least32_t> line_ = 0;
  published<bool> ended_by_others_ = false;
};

}}}  // namespace fj::v0_4::detail
