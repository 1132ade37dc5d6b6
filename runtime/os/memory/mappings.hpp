// What memory the process has, and which of its pages were ever touched. Takes no lock and allocates nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/os/memory/own_table.hpp"
#include "runtime/os/memory/pages.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// A part of the address space that the process may read, and write or have written.
struct mapping {
  std::uintptr_t begin, end;
  bool is_writable;
  bool is_shared;    ///< with other processes, or with a file
  bool after_guard;  ///< memory that must not be accessed lies right below
  bool is_heap;      ///< that of brk(2)
  bool is_stack;     ///< the main thread's
  bool is_c_library;
};

/// In the order of addresses, without the memory of devices. False if the system does not say.
[[nodiscard]] bool read_mappings(own_table<mapping>& all) noexcept;

/// Bytes that the process has in memory, but for what it shares with files. 0: not known.
std::size_t resident_bytes() noexcept;

/// Whether valgrind runs the program. It maps a library of its own into each.
bool runs_in_valgrind() noexcept;

/// Of a thread of this process, at most 15 characters and a zero; "?": not known.
void read_thread_name(int thread, char (&name)[16]) noexcept;

/// The pages of the process.
class touched_pages {
 public:
  touched_pages() noexcept;
  ~touched_pages();
  touched_pages(const touched_pages&) = delete;
  touched_pages& operator=(const touched_pages&) = delete;

  bool are_known() const noexcept { return pages_ >= 0 && memory_ >= 0; }

  /// Whether the page of that address is in memory. Another one must not be read just so: it may be a guard.
  bool is_present(std::uintptr_t a) noexcept {
    return read(a / page_size(), a + 1) == 1 && (kind(0) == page::present || kind(0) == page::of_file);
  }

  /// Calls visit(begin, end) with words that were ever written from `begin` to `end`, whole words in both. They may be
  /// copies. `and_files`: also those that a file has. False if the system does not say which these are.
  template <class Visit>
  [[nodiscard]] bool for_each_word_in(std::uintptr_t begin, std::uintptr_t end, bool and_files, Visit visit) noexcept {
    while (begin < end) {
      const std::uintptr_t first = begin / page_size() * page_size();
      const std::size_t count = read(first / page_size(), end);
      if (count == 0) return false;
      for (std::size_t i = 0; i < count;) {
        std::size_t same = i + 1;
        while (same < count && kind(same) == kind(i)) ++same;
        const std::uintptr_t from = (std::max)(begin, first + i * page_size());
        const std::uintptr_t to = (std::min)(end, first + same * page_size());
        if (kind(i) == page::present || (kind(i) == page::of_file && and_files)) visit(from, to);
        if (kind(i) == page::elsewhere)
          for (std::uintptr_t at = from; at < to;) {
            const std::uintptr_t next = (std::min)(to, at / page_size() * page_size() + page_size());
            if (copy(at, next - at)) {
              const auto copied = reinterpret_cast<std::uintptr_t>(copy_);
              visit(copied, copied + (next - at));
            }
            at = next;
          }
        i = same;
      }
      begin = first + count * page_size();
    }
    return true;
  }

 private:
  // `of_file`: present, and the same as in a file or in shared memory. `elsewhere`: on a disk; or a guard, which only
  // some kernels tell from that.
  enum class page { untouched, present, of_file, elsewhere };
  static constexpr std::size_t at_once = 512;
  static constexpr std::size_t largest_page = std::size_t{64} << 10;

  std::size_t read(std::uintptr_t first_page, std::uintptr_t end) noexcept;
  page kind(std::size_t i) const noexcept;
  bool copy(std::uintptr_t from, std::size_t bytes) noexcept;

  int pages_, memory_;
  [[maybe_unused]] std::uint64_t states_[at_once];
  alignas(std::uintptr_t) std::byte copy_[largest_page];
};

}}}}  // namespace fj::v0_4::detail::os
