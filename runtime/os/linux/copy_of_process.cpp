#include "runtime/os/copy_of_process.hpp"

#include <sys/mman.h>

#include <new>

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

shared_memory::shared_memory(std::size_t size)
    : begin_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
      size_(size) {
  if (begin_ == MAP_FAILED) throw std::bad_alloc();
}

shared_memory::~shared_memory() { munmap(begin_, size_); }

void shared_memory::clear() noexcept { madvise(begin_, size_, MADV_REMOVE); }

int make_nameless_file() noexcept { return memfd_create("forkjoin", MFD_CLOEXEC); }

}}}}  // namespace fj::v0_2::detail::os
