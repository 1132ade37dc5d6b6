#include "runtime/os/memory_fault.hpp"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <new>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

fault_reporter reporter = nullptr;
struct sigaction previous_segv, previous_bus;
std::atomic<guarded_memory*> all_guarded{nullptr};

void set_default(int signal) noexcept {
  struct sigaction fallback = {};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal, &fallback, nullptr);
}

bool is_handler(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// With the flags and the mask that it was installed with: one may rely on a second fault ending the process. The mask
// of before comes back when this library's handler is left.
void call_as_system(const struct sigaction& action, int signal, siginfo_t* info, void* context) noexcept {
  pthread_sigmask(SIG_BLOCK, &action.sa_mask, nullptr);
  if ((action.sa_flags & SA_NODEFER) && !sigismember(&action.sa_mask, signal)) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  }
  if (action.sa_flags & SA_SIGINFO) return action.sa_sigaction(signal, info, context);
  action.sa_handler(signal);
}

void handle_fault(int signal, siginfo_t* info, void* context) {
  const bool accessed = info->si_code > 0;  // else a process sent the signal
  if (accessed && signal == SIGBUS && guarded_memory::mend(info->si_addr)) return;
  if (accessed && reporter(info->si_addr, stack_pointer_of(context))) abort();
  struct sigaction& previous = signal == SIGSEGV ? previous_segv : previous_bus;
  if (is_handler(previous)) {
    const struct sigaction by = previous;
    if (by.sa_flags & SA_RESETHAND) previous = {};  // the library's own stays, for faults that it knows
    return call_as_system(by, signal, info, context);
  }
  if (!accessed && previous.sa_handler == SIG_IGN) return;
  // Back to the default, and return to the access: it faults again and ends the process as it would have.
  set_default(signal);
  if (!accessed) raise(signal);  // when this handler is left
}

class alternate_stack {
 public:
  alternate_stack() noexcept {
    stack_t present = {};
    if (sigaltstack(nullptr, &present) != 0 || !(present.ss_flags & SS_DISABLE)) return;
    constexpr std::size_t bytes = 64 << 10;
    memory_.reset(new (std::nothrow) char[bytes]);
    if (!memory_) return;
    stack_t mine = {};
    mine.ss_sp = memory_.get();
    mine.ss_size = bytes;
    if (sigaltstack(&mine, nullptr) != 0) memory_.reset();
  }

  ~alternate_stack() {
    stack_t present = {};
    if (!memory_ || sigaltstack(nullptr, &present) != 0) return;
    if (present.ss_sp != memory_.get()) return;  // the program has given the thread another one since
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    // Refused to a signal handler that runs there, and calls exit: it needs the memory.
    if (sigaltstack(&none, nullptr) != 0) static_cast<void>(memory_.release());
  }

  alternate_stack(const alternate_stack&) = delete;
  alternate_stack& operator=(const alternate_stack&) = delete;

 private:
  std::unique_ptr<char[]> memory_;
};

}  // namespace

void report_memory_faults(fault_reporter callback) noexcept {
  static std::atomic<bool> asked{false};
  if (asked.exchange(true, std::memory_order_relaxed)) return;
  reporter = callback;
  struct sigaction action = {};
  action.sa_sigaction = handle_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous_segv);
  sigaction(SIGBUS, &action, &previous_bus);
}

guarded_memory& guarded_memory::make() {
  // acquire: pairs with the release below
  for (guarded_memory* each = all_guarded.load(std::memory_order_acquire); each; each = each->next_)
    if (!each->used_.exchange(true, std::memory_order_acq_rel)) {  // acquire: pairs with the release in end
      each->lost_.store(false, std::memory_order_relaxed);
      return *each;
    }
  auto* const made = new guarded_memory;
  made->next_ = all_guarded.load(std::memory_order_relaxed);
  // release: pairs with the acquires above and in mend
  while (!all_guarded.compare_exchange_weak(made->next_, made, std::memory_order_release, std::memory_order_relaxed)) {}
  return *made;
}

void guarded_memory::begin(void* memory, std::size_t bytes) noexcept {
  bytes_.store(bytes, std::memory_order_relaxed);
  begin_.store(static_cast<std::byte*>(memory), std::memory_order_release);  // release: pairs with the acquire in mend
}

void guarded_memory::end() noexcept {
  begin_.store(nullptr, std::memory_order_relaxed);
  used_.store(false, std::memory_order_release);  // release: pairs with the exchange in make
}

// mmap is not among the functions that POSIX allows in a signal handler; on Linux it is a system call and no more.
bool guarded_memory::mend(const void* address) noexcept {
  const auto* const at = static_cast<const std::byte*>(address);
  // acquire: pairs with the release in make
  for (guarded_memory* each = all_guarded.load(std::memory_order_acquire); each; each = each->next_) {
    // acquire: pairs with the release in begin
    std::byte* const begin = each->begin_.load(std::memory_order_acquire);
    const std::size_t bytes = each->bytes_.load(std::memory_order_relaxed);
    if (!begin || std::less<>()(at, begin) || !std::less<>()(at, begin + bytes)) continue;
    each->lost_.store(true, std::memory_order_relaxed);
    const int before = errno;
    const bool mended = replace_by_zeros(begin, bytes);
    errno = before;
    return mended;
  }
  return false;
}

// Called on a thread's native stack only, so the thread-local cannot be another thread's.
[[gnu::noinline]] void ensure_alternate_stack() noexcept { static thread_local const alternate_stack stack; }

void print_error(const char* text) noexcept {
  for (std::size_t left = std::strlen(text); left > 0;) {
    const ssize_t written = write(STDERR_FILENO, text, left);
    if (written <= 0) return;
    text += written;
    left -= static_cast<std::size_t>(written);
  }
}

void print_error(unsigned long number) noexcept {
  char digits[24];
  char* at = digits + sizeof(digits);
  *--at = '\0';
  do *--at = static_cast<char>('0' + number % 10);
  while (number /= 10);
  print_error(at);
}

}}}}  // namespace fj::v0_4::detail::os
