// Copies of this process, each of which calls one function, and the memory that they share with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Zeroed memory that this process shares with copies that it makes later.
class shared_memory {
 public:
  /// Throws std::bad_alloc. Pages that are not touched take no memory.
  explicit shared_memory(std::size_t size);
  ~shared_memory();
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;

  void* begin() const noexcept { return begin_; }
  /// All is zero again.
  void clear() noexcept;

 private:
  void* const begin_;
  const std::size_t size_;
};

/// The descriptor of a file that has no name and ends with its descriptors. -1, with errno: the system refuses.
int make_nameless_file() noexcept;

/// How a copy ended.
struct copy_end {
  bool by_itself = false;    ///< else by a signal, which `number` is
  bool was_stuck = false;    ///< it was killed, because its progress stood still
  int number = 0;            ///< its status
  std::string error_output;  ///< what it has written to standard error, the last 64 KiB of it
};

/// Calls body(argument) in a copy of this process that has no thread but this one, waits for its end, and returns that.
/// The copy ends without destructors of static objects, by the status that body returns. If `progress` returns the same
/// for `longest_ns` it is killed. Throws std::system_error.
copy_end call_in_copy(int (*body)(void* argument) noexcept, void* argument, std::uint64_t (*progress)(void* argument),
                      std::int64_t longest_ns);

}}}}  // namespace fj::v0_4::detail::os
