#include "runtime/os/memory/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "runtime/os/memory/pages.hpp"
#include "runtime/os/memory_fault.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

// Another name, each time, in the same folder. Short: the longest name that a folder takes may be the user's.
std::string name_beside(const std::string& path) {
  static std::atomic<unsigned> names{0};
  return path.substr(0, path.rfind('/') + 1) + ".forkjoin." + std::to_string(getpid()) + "." +
         std::to_string(names.fetch_add(1, std::memory_order_relaxed));
}

bool is_over_limit(std::size_t bytes) noexcept {
  rlimit limit = {};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

}  // namespace

mapped_file::~mapped_file() {
  for (const part& each : parts_) {
    if (each.guard) each.guard->end();
    munmap(each.begin, each.bytes);
  }
  if (!made_as_.empty()) unlink(made_as_.c_str());
  close_file();
}

int mapped_file::create(const char* path) noexcept {
  if (*path == '\0') return ENOENT;  // before there is a file that could not get this name
  // A device or a pipe must not lose its name to a file: /dev/null, when root says so.
  struct stat known = {};
  if (lstat(path, &known) == 0 && !S_ISREG(known.st_mode)) return S_ISLNK(known.st_mode) ? ELOOP : ENODEV;
  constexpr int most_tries = 100;  // a name may be taken: by what another process of this number left
  try {
    name_ = path;
    for (int tries = 0; tries < most_tries; ++tries) {
      std::string name = name_beside(name_);
      descriptor_ = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
      if (descriptor_ >= 0) made_as_ = std::move(name);
      if (descriptor_ >= 0 || errno != EEXIST) break;
    }
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  return descriptor_ < 0 ? errno : 0;
}

int mapped_file::publish() noexcept {
  if (std::rename(made_as_.c_str(), name_.c_str()) != 0) return errno;
  made_as_.clear();
  return 0;
}

std::byte* mapped_file::extend(std::size_t bytes, int& error) noexcept {
  const auto at = static_cast<off_t>(size_);
  guarded_memory* guard = nullptr;
  try {
    parts_.reserve(parts_.size() + 1);
    if (descriptor_ >= 0) guard = &guarded_memory::make();
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
    return nullptr;
  }
  void* memory = MAP_FAILED;
  if (descriptor_ < 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    error = errno;
  } else if (is_over_limit(size_ + bytes)) {
    error = EFBIG;  // to try would be a SIGXFSZ
  } else {
    // Not ftruncate: on a full disk a later write to the memory would be a SIGBUS.
    do {
      error = posix_fallocate(descriptor_, at, static_cast<off_t>(bytes));
    } while (error == EINTR);
    if (error == 0) {
      memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, at);
      error = errno;
    }
  }
  if (memory == MAP_FAILED) {
    if (guard) guard->end();
    return nullptr;
  }
  if (guard) guard->begin(memory, bytes);
  size_ += bytes;
  parts_.push_back({static_cast<std::byte*>(memory), bytes, guard});
  return parts_.back().begin;
}

bool mapped_file::is_whole() const noexcept {
  for (const part& each : parts_)
    if (each.guard && each.guard->is_lost()) return false;
  struct stat now = {};
  return descriptor_ < 0 || (fstat(descriptor_, &now) == 0 && now.st_size >= static_cast<off_t>(size_));
}

void mapped_file::let_go() noexcept {
  // Where the system refuses, the memory stays the file's.
  for (const part& each : parts_) replace_by_zeros(each.begin, each.bytes);
  close_file();
}

void mapped_file::close_file() noexcept {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

void mapped_file::prepare(std::byte* begin, std::size_t bytes) noexcept { prepare_pages(begin, bytes); }

}}}}  // namespace fj::v0_4::detail::os
