#include "runtime/os/copy_of_process.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

shared_memory::shared_memory(std::size_t size)
    : begin_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)), size_(size) {
  if (begin_ == MAP_FAILED) throw std::bad_alloc();
}

shared_memory::~shared_memory() { munmap(begin_, size_); }

// Where the system refuses, the memory is what it was: zeros are stored, and take memory.
void shared_memory::clear() noexcept {
  if (mmap(begin_, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    for (std::size_t i = 0; i < size_; ++i) static_cast<char*>(begin_)[i] = 0;
}

int make_nameless_file() noexcept {
  char name[] = "/tmp/forkjoin.XXXXXX";
  const int descriptor = mkstemp(name);
  if (descriptor < 0) return -1;
  unlink(name);
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}

}}}}  // namespace fj::v0_2::detail::os
