#include "runtime/os/memory/mappings.hpp"

#include <cstring>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

bool read_mappings(own_table<mapping>&) noexcept { return false; }

std::size_t resident_bytes() noexcept { return 0; }

bool runs_in_valgrind() noexcept { return false; }

void read_thread_name(int, char (&name)[16]) noexcept { std::strcpy(name, "?"); }

touched_pages::touched_pages() noexcept : pages_(-1), memory_(-1) {}
touched_pages::~touched_pages() = default;
std::size_t touched_pages::read(std::uintptr_t, std::uintptr_t) noexcept { return 0; }
touched_pages::page touched_pages::kind(std::size_t) const noexcept { return page::elsewhere; }
bool touched_pages::copy(std::uintptr_t, std::size_t) noexcept { return false; }

}}}}  // namespace fj::v0_4::detail::os
