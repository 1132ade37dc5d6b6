// A file that grows, and is memory of this process: what is written there outlives the process, whatever ends it.
//
// The file is made beside its name, and takes the name when it is complete: a reader finds the old file or the new one,
// a file that another mapping writes keeps its content, and nothing is ever written into a file that was there before.
// So no name that somebody else has prepared, a link above all, leads what is written into another file.
//
// Rejected: to empty the file that has the name. A thread that still writes to a mapping of it dies by SIGBUS, and the
// file may be anybody's. Rejected: memory that is copied out now and then. A kill would lose the newest events, those
// that tell why.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

class guarded_memory;

/// One thread at a time. The memory stays where it is until the object ends, whatever becomes of the file.
class mapped_file {
 public:
  /// Memory alone, until create.
  mapped_file() noexcept = default;
  /// A file that has no name yet goes.
  ~mapped_file();
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  /// Makes a file that is to have this name, in the same folder. 0, or the errno of what failed: ELOOP if the name is a
  /// symbolic link now, ENODEV if it is anything else than a regular file.
  [[nodiscard]] int create(const char* path) noexcept;
  /// Gives it the name; what had it before has it no more. 0, or the errno of what failed.
  [[nodiscard]] int publish() noexcept;

  /// So many bytes more at its end, whole pages, which are zero. They are there on the disk, too: a write to them
  /// cannot fail, unless another process makes the file shorter or the disk breaks; then it goes to memory of this
  /// process alone. nullptr, and the errno of what failed, if the system refuses, EFBIG above the limit of ulimit -f,
  /// too. Some 0.5 ms for a mebibyte.
  std::byte* extend(std::size_t bytes, int& error) noexcept;

  /// Whether the file still has all that was written.
  bool is_whole() const noexcept;

  /// What is written from now on goes nowhere: neither file nor disk is kept by the memory.
  void let_go() noexcept;

  /// The first accesses to these whole pages of it take no longer than later ones, where the system can see to that.
  static void prepare(std::byte* begin, std::size_t bytes) noexcept;

 private:
  struct part {
    std::byte* begin;
    std::size_t bytes;
    guarded_memory* guard;  // nullptr: no file's
  };

  void close_file() noexcept;

  int descriptor_ = -1;
  std::string name_, made_as_;  // made_as_: empty once it has the name
  std::size_t size_ = 0;
  std::vector<part> parts_;
};

}}}}  // namespace fj::v0_4::detail::os
