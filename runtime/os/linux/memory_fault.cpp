#include "runtime/os/memory_fault.hpp"

#include <sys/mman.h>
#include <ucontext.h>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

const void* stack_pointer_of([[maybe_unused]] const void* context) noexcept {
#if defined(__x86_64__) && defined(REG_RSP)
  return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.sp);
#else
  return nullptr;
#endif
}

bool replace_by_zeros(std::byte* begin, std::size_t bytes) noexcept {
  return mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
         MAP_FAILED;
}

}}}}  // namespace fj::v0_4::detail::os
