// What ends the poll(2) of a thread.
#pragma once

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

class wake_up {
 public:
  wake_up() noexcept = default;
  ~wake_up() { close(); }
  wake_up(const wake_up&) = delete;
  wake_up& operator=(const wake_up&) = delete;

  /// 0, or the errno of what failed.
  [[nodiscard]] int open() noexcept;
  void close() noexcept;

  /// What the thread polls: it can be read from signal on, until take. -1: not open.
  int number() const noexcept { return to_read_; }
  void signal() noexcept;
  /// Of one that has been signaled: what follows comes after that.
  void take() noexcept;

 private:
  int to_read_ = -1, to_write_ = -1;  // may be the same
};

}}}}  // namespace fj::v0_4::detail::os
