#include "runtime/os/memory/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>

// The headers of some distributions are older than this.
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

mapped_file::~mapped_file() {
  for (const part& each : parts_) munmap(each.begin, each.bytes);
  if (descriptor_ >= 0) close(descriptor_);
}

int mapped_file::create(const char* path) noexcept {
  descriptor_ = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  return descriptor_ < 0 ? errno : 0;
}

int mapped_file::create_unnamed() noexcept {
  descriptor_ = memfd_create("forkjoin flight recorder", MFD_CLOEXEC);
  return descriptor_ < 0 ? errno : 0;
}

std::byte* mapped_file::extend(std::size_t bytes, int& error) noexcept {
  try {
    parts_.reserve(parts_.size() + 1);
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
    return nullptr;
  }
  const auto at = static_cast<off_t>(size_);
  // Not ftruncate: on a full disk a later write to the memory would be a SIGBUS.
  do {
    error = posix_fallocate(descriptor_, at, static_cast<off_t>(bytes));
  } while (error == EINTR);
  if (error != 0) return nullptr;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, at);
  if (memory == MAP_FAILED) {
    error = errno;
    return nullptr;
  }
  size_ += bytes;
  parts_.push_back({static_cast<std::byte*>(memory), bytes});
  return parts_.back().begin;
}

void mapped_file::prepare(std::byte* begin, std::size_t bytes) noexcept {
  madvise(begin, bytes, MADV_POPULATE_WRITE);  // advice only: Linux before 5.14 does not know it
}

}}}}  // namespace fj::v0_2::detail::os
