// Memory in pages: reserves address space without touching it, guards it, gives it back.
#pragma once

#include <cstddef>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

/// Bytes per page.
std::size_t page_size() noexcept;

/// `bytes` rounded up to whole pages.
std::size_t round_to_pages(std::size_t bytes) noexcept;

/// Reserves zeroed memory that costs nothing until touched. `bytes` must be whole pages. nullptr when refused.
std::byte* reserve_pages(std::size_t bytes) noexcept;

/// Makes every access to these pages of a reservation a SIGSEGV. False if the system refuses. Costs no mapping where
/// the kernel has guard regions (Linux 6.13), two otherwise; a process can have some 65,530.
bool guard_pages(std::byte* begin, std::size_t bytes) noexcept;

/// How pages are guarded.
enum class guard : unsigned char {
  region,   ///< by the kernel's guard regions
  mapping,  ///< by a mapping of their own
  none
};

/// As guard_pages, for guards of which there may be very many: `none` where the system refuses, or where guards with
/// mappings of their own would take more than 45 % of the mappings that a process may have (vm.max_map_count). Others
/// need some, too.
guard guard_pages_sparingly(std::byte* begin, std::size_t bytes) noexcept;

/// Pages that were guarded sparingly are released.
void forget_guard(guard was) noexcept;

/// As guard_pages if that costs no mapping; otherwise does nothing.
void guard_pages_if_free(std::byte* begin, std::size_t bytes) noexcept;

/// Gives the contents of these pages back; they read as zero afterwards.
void discard_pages(std::byte* begin, std::size_t bytes) noexcept;

/// The first accesses to these pages take no longer than later ones, where the system can see to that.
void prepare_pages(std::byte* begin, std::size_t bytes) noexcept;

/// Whether the page that holds `address` has memory behind it.
bool is_resident(const std::byte* address) noexcept;

void release_pages(std::byte* begin, std::size_t bytes) noexcept;

}}}}  // namespace fj::v0_4::detail::os
