// Sleeping until a word changes.
#pragma once

#include <atomic>
#include <cstdint>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Sleeps while `word` holds `expected`; may return early, so callers loop.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

/// The same, but no longer than until `at`, by os::now_ns. False if that time has come.
bool futex_wait_until(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t at) noexcept;

/// Wakes one sleeper of `word`. The word may be gone already: the kernel uses the address only as a key.
void futex_wake(std::atomic<std::uint32_t>& word) noexcept;

/// The looks that a thread takes around while it sleeps for long: the first after tuning::first_look_ns, and each other
/// one after twice as long as the one before.
class looks {
 public:
  using function = void (*)(looks& by) noexcept;

  /// What a look does, on any thread. Before the first call of this there are no looks.
  static void are(function what) noexcept;

  /// `wanted`: else this thread does not look.
  explicit looks(bool wanted = true) noexcept;

  /// Sleeps while `word` is 0, at most until the next look is due. False if it is due; then the caller looks and sleeps
  /// again.
  [[nodiscard]] bool sleep(std::atomic<std::uint32_t>& word) noexcept;

  /// Whether it ever is.
  bool any() const noexcept { return what_; }
  bool is_due() const noexcept;
  void look() noexcept;

  /// For the function: what it saw at its last look, and how long ago that was; 0: there was none.
  std::uint64_t seen = 0;
  std::int64_t since_last_ns = 0;

 private:
  static constexpr std::int64_t longest_ns = 3'600'000'000'000;  // between two

  function what_;
  std::int64_t delay_ns_, at_ns_ = 0;
};

}}}}  // namespace fj::v0_4::detail::os
