// A file that grows, and is memory of this process: what is written there outlives the process, whatever ends it.
#pragma once

#include <cstddef>
#include <vector>

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

/// One thread at a time. The memory stays where it is until the object ends; the file stays.
class mapped_file {
 public:
  mapped_file() noexcept = default;
  ~mapped_file();
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  /// Makes the file, or empties it. 0, or the errno of what failed.
  [[nodiscard]] int create(const char* path) noexcept;
  /// Makes one without a name, which goes when the process ends.
  [[nodiscard]] int create_unnamed() noexcept;

  /// So many bytes more at its end, whole pages, which are zero. They are there on the disk, too: a write to them cannot fail. nullptr,
  /// and the errno of what failed, if the system refuses. Some 0.5 ms for a mebibyte.
  std::byte* extend(std::size_t bytes, int& error) noexcept;

  /// The first accesses to these whole pages of it take no longer than later ones, where the system can see to that.
  static void prepare(std::byte* begin, std::size_t bytes) noexcept;

 private:
  struct part {
    std::byte* begin;
    std::size_t bytes;
  };

  int descriptor_ = -1;
  std::size_t size_ = 0;
  std::vector<part> parts_;
};

}}}}  // namespace fj::v0_2::detail::os
