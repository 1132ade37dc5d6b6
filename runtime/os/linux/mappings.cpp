#include "runtime/os/memory/mappings.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

constexpr std::size_t longest_line = 4096 + 128;  // a path, and the numbers before it

// Reads the file by lines. What a line has beyond `longest_line` is left out.
template <class Visit>
bool for_each_line(const char* path, Visit visit) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char line[longest_line], buffer[4096];
  std::size_t length = 0;
  ssize_t got = 0;
  while ((got = read(file, buffer, sizeof(buffer))) > 0)
    for (ssize_t i = 0; i < got; ++i) {
      if (buffer[i] != '\n') {
        if (length < sizeof(line) - 1) line[length++] = buffer[i];
        continue;
      }
      line[length] = '\0';
      visit(line);
      length = 0;
    }
  close(file);
  return got == 0;
}

bool begins_with(const char* text, const char* with) noexcept {
  return std::strncmp(text, with, std::strlen(with)) == 0;
}

bool is_device(const char* path) noexcept {
  return begins_with(path, "/dev/") && !begins_with(path, "/dev/shm/") && !begins_with(path, "/dev/zero") &&
         !begins_with(path, "/dev/hugepages/");
}

// What the program has written may have been protected since, but hardly code of files, nor what other processes write.
bool may_be_written(const char* rights, const char* path) noexcept {
  return rights[1] == 'w' || (rights[3] == 'p' && (rights[2] != 'x' || *path == '\0'));
}

bool is_c_library(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash && (begins_with(slash, "/libc.so") || begins_with(slash, "/libc-2."));
}

}  // namespace

// A line: begin-end rights offset device inode path.
bool read_mappings(own_table<mapping>& all) noexcept {
  std::uintptr_t guard_end = 0;
  const bool read = for_each_line("/proc/self/maps", [&](char* line) noexcept {
    char* at = nullptr;
    const std::uintptr_t begin = std::strtoull(line, &at, 16);
    const std::uintptr_t end = std::strtoull(at + 1, &at, 16);
    const char* const rights = at + 1;
    const char* path = rights;
    for (int field = 0; field < 4 && path; ++field)
      if ((path = std::strchr(path, ' '))) ++path;
    while (path && *path == ' ') ++path;
    if (!path) path = "";
    if (rights[0] == '-' && rights[1] == '-') guard_end = end;
    if (rights[0] != 'r' || !may_be_written(rights, path) || is_device(path)) return;
    all.push({.begin = begin,
              .end = end,
              .is_writable = rights[1] == 'w',
              .is_shared = rights[3] == 's',
              .after_guard = guard_end == begin,
              .is_heap = begins_with(path, "[heap]"),
              .is_stack = begins_with(path, "[stack]"),
              .is_c_library = is_c_library(path)});
  });
  return read && !all.is_full() && !all.empty();
}

std::size_t resident_bytes() noexcept {
  std::size_t bytes = 0;
  for_each_line("/proc/self/statm", [&](char* line) noexcept {
    char* at = nullptr;
    std::strtoull(line, &at, 10);
    const std::size_t resident = std::strtoull(at, &at, 10);
    const std::size_t shared = std::strtoull(at, nullptr, 10);
    bytes = (resident - std::min(resident, shared)) * page_size();
  });
  return bytes;
}

bool runs_in_valgrind() noexcept {
  bool does = false;
  for_each_line("/proc/self/maps",
                [&](const char* line) noexcept { does |= std::strstr(line, "/vgpreload_") != nullptr; });
  return does;
}

void read_thread_name(int thread, char (&name)[16]) noexcept {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/comm", thread);
  std::strcpy(name, "?");
  for_each_line(path, [&](const char* line) noexcept { std::snprintf(name, sizeof(name), "%.15s", line); });
}

touched_pages::touched_pages() noexcept
    : pages_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)), memory_(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) {}

touched_pages::~touched_pages() {
  if (pages_ >= 0) close(pages_);
  if (memory_ >= 0) close(memory_);
}

// The states of the pages from there on: of how many.
std::size_t touched_pages::read(std::uintptr_t first_page, std::uintptr_t end) noexcept {
  const std::size_t wanted = std::min(at_once, (end + page_size() - 1) / page_size() - first_page);
  const ssize_t got =
      pread(pages_, states_, wanted * sizeof(states_[0]), static_cast<off_t>(first_page * sizeof(states_[0])));
  return got > 0 ? static_cast<std::size_t>(got) / sizeof(states_[0]) : 0;
}

touched_pages::page touched_pages::kind(std::size_t i) const noexcept {
  constexpr std::uint64_t present = std::uint64_t{1} << 63, swapped = std::uint64_t{1} << 62,
                          of_file = std::uint64_t{1} << 61;
  if (states_[i] & present) return states_[i] & of_file ? page::of_file : page::present;
  return states_[i] & swapped ? page::elsewhere : page::untouched;
}

bool touched_pages::copy(std::uintptr_t from, std::size_t bytes) noexcept {
  return bytes <= sizeof(copy_) &&
         pread(memory_, copy_, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
}

}}}}  // namespace fj::v0_4::detail::os
