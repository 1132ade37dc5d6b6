// With it, headers define some of these functions.
#undef _FORTIFY_SOURCE

#include "runtime/os/memory/interposed.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <utility>

// Not <string.h> and <stdio.h>: their declarations of what is defined here differ from C's, or are inline.
#pragma GCC diagnostic ignored "-Wmissing-declarations"

extern "C" char __libc_single_threaded;
extern "C" std::size_t malloc_usable_size(void* at);

namespace fj { inline namespace v0_4 { namespace detail { namespace os { namespace interposed {

namespace {

/// The C library's function of that name, found when it is first needed or at the start.
template <class F>
struct original {
  const char* name;
  F* function = nullptr;

  F* find() noexcept {
    if (!function) function = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
    return function;
  }
};

original<void*(void*, const void*, std::size_t)> copy{"memcpy"}, move{"memmove"};
original<void*(void*, int, std::size_t)> set{"memset"};
original<int(const void*, const void*, std::size_t)> compare{"memcmp"};
original<const void*(const void*, int, std::size_t)> find_byte{"memchr"};
original<std::size_t(const char*)> length{"strlen"};
original<int(const char*, const char*)> compare_strings{"strcmp"};
original<int(const char*, const char*, std::size_t)> compare_few{"strncmp"};
original<const char*(const char*, int)> find_character{"strchr"};
original<int(pthread_once_t*, void (*)())> run_once{"pthread_once"};
original<long(long, ...)> call_system{"syscall"};
original<int(char*, std::size_t, const char*, std::va_list)> print_to{"vsnprintf"};
original<ssize_t(int, void*, std::size_t)> read_from{"read"};
original<ssize_t(int, const void*, std::size_t)> write_to{"write"};
original<std::size_t(void*, std::size_t, std::size_t, void*)> read_stream{"fread"};
original<std::size_t(const void*, std::size_t, std::size_t, void*)> write_stream{"fwrite"};
original<char*(char*, int, void*)> read_line{"fgets"};
// What libstdc++ has compiled of its trees and lists. libc++ leaves all of that to the program, where the compiler
// watches it.
original<void(bool, void*, void*, void*)> put_in_tree{
    "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_"};
original<void*(void*, void*)> take_from_tree{"_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_"};
original<void*(void*)> next_in_tree{"_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base"};
original<void*(void*)> before_in_tree{"_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base"};
original<void(void*, void*)> put_in_list{"_ZNSt8__detail15_List_node_base7_M_hookEPS0_"};
original<void(void*)> take_from_list{"_ZNSt8__detail15_List_node_base9_M_unhookEv"};
original<void(void*, void*, void*)> move_in_list{"_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_"};
original<void(void**)> release_exception{"_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv"};
// Its pools of memory, which are heaps of their own.
original<void*(void*, std::size_t, std::size_t)> take_from_pool{
    "_ZNSt3pmr26synchronized_pool_resource11do_allocateEmm"},
    take_from_own_pool{"_ZNSt3pmr28unsynchronized_pool_resource11do_allocateEmm"};
original<void(void*, void*, std::size_t, std::size_t)> give_to_pool{
    "_ZNSt3pmr26synchronized_pool_resource13do_deallocateEPvmm"},
    give_to_own_pool{"_ZNSt3pmr28unsynchronized_pool_resource13do_deallocateEPvmm"};

bool ready = false;
pid_t started_in = 0;

#define CALLED_FROM __builtin_return_address(0)

std::size_t length_of(const char* text, std::size_t most = ~std::size_t{0}) noexcept {
  std::size_t n = 0;
  while (n != most && static_cast<const volatile char*>(text)[n] != 0) ++n;
  return n;
}

/// The function of a C++ library that is linked statically is not found.
template <class F>
F* of_library(original<F>& function) noexcept {
  if (F* const found = function.find()) return found;
  refuse("the program is linked with -static-libstdc++, which hides what std::map and std::list do: link it without");
}

/// As glibc has it: a flag beside the block's size.
bool is_mapped(const void* block) noexcept { return (static_cast<const std::size_t*>(block)[-1] & 2) != 0; }

/// Where the program calls the operator that allocates or frees: malloc and free are called by that.
void* operator_from = nullptr;

class called_from {
 public:
  explicit called_from(void* pc) noexcept : is_outer_(!operator_from) {
    if (is_outer_) operator_from = pc;
  }
  ~called_from() {
    if (is_outer_) operator_from = nullptr;
  }
  called_from(const called_from&) = delete;
  called_from& operator=(const called_from&) = delete;

 private:
  const bool is_outer_;
};

#define HEAP_CALLED_FROM (operator_from ? operator_from : CALLED_FROM)

std::size_t most_of(ssize_t n) noexcept { return n > 0 ? static_cast<std::size_t>(n) : 0; }

/// What the program has freed lately, not yet given back. A strand that writes into such a block, which is a race,
/// would else write into what the detector has put there to report it. Source: the quarantine of AddressSanitizer.
class quarantine {
 public:
  /// Takes a block; returns the one to give back, or nullptr.
  void* put(void* at) noexcept {
    if (is_mapped(at) || malloc_usable_size(at) > largest) return at;
    return std::exchange(blocks_[next_++ % most], at);
  }

 private:
  static constexpr std::size_t most = 256, largest = 64 << 10;  // 16 MiB

  void* blocks_[most] = {};
  std::size_t next_ = 0;
};

quarantine lately_freed;

constexpr std::size_t tree_node = 4 * sizeof(void*), list_node = 2 * sizeof(void*);

}  // namespace

void find_originals() noexcept {
  if (ready) return;
  started_in = getpid();
  copy.find();
  move.find();
  set.find();
  compare.find();
  find_byte.find();
  length.find();
  compare_strings.find();
  compare_few.find();
  find_character.find();
  run_once.find();
  ready = true;
}

bool is_copy() noexcept { return getpid() != started_in; }

void zero(void* at, std::size_t n) noexcept { set.function(at, 0, n); }

std::size_t size_of_block(const void* at) noexcept { return malloc_usable_size(const_cast<void*>(at)); }

std::uintptr_t lowest_of_stack() noexcept {
  rlimit limit{};
  std::uint64_t size = std::uint64_t{128} << 20;  // the least distance that Linux keeps below the stack
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    size = std::max<std::uint64_t>(size, limit.rlim_cur);
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - std::min(size, std::uint64_t{64} << 30);
}

memory_range thread_locals() noexcept {
  memory_range all;
  const auto add = [](dl_phdr_info* of, std::size_t, void* to) {
    auto& range = *static_cast<memory_range*>(to);
    for (int i = 0; i != of->dlpi_phnum; ++i) {
      if (of->dlpi_phdr[i].p_type != PT_TLS || !of->dlpi_tls_data) continue;
      const auto begin = reinterpret_cast<std::uintptr_t>(of->dlpi_tls_data);
      const std::uintptr_t end = begin + of->dlpi_phdr[i].p_memsz;
      if (range.end == 0) range = {begin, end};
      range = {std::min(range.begin, begin), std::max(range.end, end)};
    }
    return 0;
  };
  dl_iterate_phdr(add, &all);
  return all;
}

bool is_of_thread_local(std::uintptr_t at) noexcept {
  memory_range program;
  const auto add = [](dl_phdr_info* of, std::size_t, void* to) {
    for (int i = 0; i != of->dlpi_phnum; ++i) {
      if (of->dlpi_phdr[i].p_type != PT_TLS || !of->dlpi_tls_data) continue;
      const auto begin = reinterpret_cast<std::uintptr_t>(of->dlpi_tls_data);
      *static_cast<memory_range*>(to) = {begin, begin + of->dlpi_phdr[i].p_memsz};
    }
    return 1;  // the first one is the program
  };
  dl_iterate_phdr(add, &program);
  constexpr std::uintptr_t word = sizeof(std::uintptr_t);
  const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  bool found = false;
  for (std::uintptr_t one = (program.begin + word - 1) & ~(word - 1); one + word <= program.end && !found;
       one += word) {
    const std::uintptr_t block = *reinterpret_cast<const std::uintptr_t*>(one);
    if (block % 16 != 0 || block > at || at - block >= std::uintptr_t{1} << 36) continue;
    // As glibc has it: the block's size, with three flags. What looks like a block may be in no memory.
    std::uintptr_t size = 0;
    if (pread(memory, &size, word, static_cast<off_t>(block - word)) != static_cast<ssize_t>(word)) continue;
    size &= ~std::uintptr_t{7};
    if (size >= 4 * word && size % 16 == 0 && at - block < size - word) found = true;
  }
  if (memory >= 0) close(memory);
  return found;
}

void pretend_threads() noexcept { __libc_single_threaded = 0; }

}}}}}  // namespace fj::v0_4::detail::os::interposed

using namespace fj::detail::os::interposed;  // NOLINT: what follows is C's

extern "C" {

// Under names of their own: for C++ <string.h>, which libc++'s headers include, declares these with other types.
void* find_byte_in(const void* at, int value, std::size_t n) noexcept __asm__("memchr");
char* find_first_in(const char* text, int value) noexcept __asm__("strchr");
char* find_last_in(const char* text, int value) noexcept __asm__("strrchr");
// With large offsets a header makes one of the other.
void* map_now(void* hint, std::size_t n, int rights, int how, int file, off_t from) noexcept __asm__("mmap");
void* map_now_64(void* hint, std::size_t n, int rights, int how, int file, off_t from) noexcept __asm__("mmap64");

// --- memory and strings. Before the start a plain loop: dlsym itself may call them. ---

void* memcpy(void* __restrict to, const void* __restrict from, std::size_t n) noexcept {
  if (!ready) [[unlikely]] {
    for (std::size_t i = 0; i != n; ++i) static_cast<volatile char*>(to)[i] = static_cast<const char*>(from)[i];
    return to;
  }
  reads(from, n, CALLED_FROM);
  writes(to, n, CALLED_FROM);
  return copy.function(to, from, n);
}

void* memmove(void* to, const void* from, std::size_t n) noexcept {
  if (!ready) [[unlikely]] {
    const auto a = static_cast<volatile char*>(to);
    const auto b = static_cast<const char*>(from);
    if (a < b) {
      for (std::size_t i = 0; i != n; ++i) a[i] = b[i];
    } else {
      for (std::size_t i = n; i-- != 0;) a[i] = b[i];
    }
    return to;
  }
  reads(from, n, CALLED_FROM);
  writes(to, n, CALLED_FROM);
  return move.function(to, from, n);
}

void* memset(void* to, int value, std::size_t n) noexcept {
  if (!ready) [[unlikely]] {
    for (std::size_t i = 0; i != n; ++i) static_cast<volatile char*>(to)[i] = static_cast<char>(value);
    return to;
  }
  writes(to, n, CALLED_FROM);
  return set.function(to, value, n);
}

int memcmp(const void* a, const void* b, std::size_t n) noexcept {
  if (!ready) [[unlikely]] {
    for (std::size_t i = 0; i != n; ++i) {
      const int x = static_cast<const volatile unsigned char*>(a)[i],
                y = static_cast<const volatile unsigned char*>(b)[i];
      if (x != y) return x - y;
    }
    return 0;
  }
  reads(a, n, CALLED_FROM);
  reads(b, n, CALLED_FROM);
  return compare.function(a, b, n);
}

void* find_byte_in(const void* at, int value, std::size_t n) noexcept {
  if (!ready) [[unlikely]] {
    const auto bytes = static_cast<const volatile unsigned char*>(at);
    for (std::size_t i = 0; i != n; ++i)
      if (bytes[i] == static_cast<unsigned char>(value)) return const_cast<unsigned char*>(bytes + i);
    return nullptr;
  }
  const void* const found = find_byte.function(at, value, n);
  reads(at, found ? static_cast<std::size_t>(static_cast<const char*>(found) - static_cast<const char*>(at)) + 1 : n,
        CALLED_FROM);
  return const_cast<void*>(found);
}

std::size_t strlen(const char* text) noexcept {
  if (!ready) [[unlikely]] {
    std::size_t n = 0;
    while (static_cast<const volatile char*>(text)[n] != 0) ++n;
    return n;
  }
  const std::size_t n = length.function(text);
  reads(text, n + 1, CALLED_FROM);
  return n;
}

char* strcpy(char* __restrict to, const char* __restrict from) noexcept {
  const std::size_t n = length_of(from);
  if (ready) {
    reads(from, n + 1, CALLED_FROM);
    writes(to, n + 1, CALLED_FROM);
  }
  for (std::size_t i = 0; i <= n; ++i) static_cast<volatile char*>(to)[i] = from[i];
  return to;
}

char* strncpy(char* __restrict to, const char* __restrict from, std::size_t most) noexcept {
  const std::size_t n = length_of(from, most);
  if (ready) {
    reads(from, n == most ? n : n + 1, CALLED_FROM);
    writes(to, most, CALLED_FROM);
  }
  for (std::size_t i = 0; i != most; ++i) static_cast<volatile char*>(to)[i] = i < n ? from[i] : '\0';
  return to;
}

char* strcat(char* __restrict to, const char* __restrict from) noexcept {
  const std::size_t before = length_of(to), n = length_of(from);
  if (ready) {
    reads(to, before + 1, CALLED_FROM);
    reads(from, n + 1, CALLED_FROM);
    writes(to + before, n + 1, CALLED_FROM);
  }
  for (std::size_t i = 0; i <= n; ++i) static_cast<volatile char*>(to)[before + i] = from[i];
  return to;
}

int strcmp(const char* a, const char* b) noexcept {
  std::size_t n = 0;
  while (static_cast<const volatile char*>(a)[n] != 0 && static_cast<const volatile char*>(b)[n] == a[n]) ++n;
  if (ready) {
    reads(a, n + 1, CALLED_FROM);
    reads(b, n + 1, CALLED_FROM);
  }
  return static_cast<int>(static_cast<unsigned char>(a[n])) - static_cast<unsigned char>(b[n]);
}

int strncmp(const char* a, const char* b, std::size_t most) noexcept {
  std::size_t n = 0;
  while (n != most && static_cast<const volatile char*>(a)[n] != 0 && static_cast<const volatile char*>(b)[n] == a[n])
    ++n;
  const std::size_t read = n == most ? n : n + 1;
  if (ready) {
    reads(a, read, CALLED_FROM);
    reads(b, read, CALLED_FROM);
  }
  return n == most ? 0 : static_cast<int>(static_cast<unsigned char>(a[n])) - static_cast<unsigned char>(b[n]);
}

char* find_first_in(const char* text, int value) noexcept {
  std::size_t n = 0;
  while (static_cast<const volatile char*>(text)[n] != 0 && text[n] != static_cast<char>(value)) ++n;
  if (ready) reads(text, n + 1, CALLED_FROM);
  return text[n] == static_cast<char>(value) ? const_cast<char*>(text + n) : nullptr;
}

char* strncat(char* __restrict to, const char* __restrict from, std::size_t most) noexcept {
  const std::size_t before = length_of(to), n = length_of(from, most);
  if (ready) {
    reads(to, before + 1, CALLED_FROM);
    reads(from, n == most ? n : n + 1, CALLED_FROM);
    writes(to + before, n + 1, CALLED_FROM);
  }
  for (std::size_t i = 0; i != n; ++i) static_cast<volatile char*>(to)[before + i] = from[i];
  static_cast<volatile char*>(to)[before + n] = '\0';
  return to;
}

char* stpcpy(char* __restrict to, const char* __restrict from) noexcept {
  const std::size_t n = length_of(from);
  if (ready) {
    reads(from, n + 1, CALLED_FROM);
    writes(to, n + 1, CALLED_FROM);
  }
  for (std::size_t i = 0; i <= n; ++i) static_cast<volatile char*>(to)[i] = from[i];
  return to + n;
}

void* mempcpy(void* __restrict to, const void* __restrict from, std::size_t n) noexcept {
  if (ready) {
    reads(from, n, CALLED_FROM);
    writes(to, n, CALLED_FROM);
  }
  return static_cast<char*>(copy.find()(to, from, n)) + n;
}

std::size_t strnlen(const char* text, std::size_t most) noexcept {
  const std::size_t n = length_of(text, most);
  if (ready) reads(text, n == most ? n : n + 1, CALLED_FROM);
  return n;
}

char* find_last_in(const char* text, int value) noexcept {
  const std::size_t n = length_of(text);
  if (ready) reads(text, n + 1, CALLED_FROM);
  for (std::size_t i = n + 1; i-- != 0;)
    if (text[i] == static_cast<char>(value)) return const_cast<char*>(text + i);
  return nullptr;
}

int vsnprintf(char* __restrict to, std::size_t room, const char* __restrict how, std::va_list values) noexcept {
  const int n = print_to.find()(to, room, how, values);
  if (ready && n >= 0 && room != 0) writes(to, std::min(room, static_cast<std::size_t>(n) + 1), CALLED_FROM);
  return n;
}

int snprintf(char* __restrict to, std::size_t room, const char* __restrict how, ...) noexcept {
  std::va_list values;
  va_start(values, how);
  const int n = print_to.find()(to, room, how, values);
  va_end(values);
  if (ready && n >= 0 && room != 0) writes(to, std::min(room, static_cast<std::size_t>(n) + 1), CALLED_FROM);
  return n;
}

int sprintf(char* __restrict to, const char* __restrict how, ...) noexcept {
  std::va_list values;
  va_start(values, how);
  const int n = print_to.find()(to, ~std::size_t{0} >> 1, how, values);
  va_end(values);
  if (ready && n >= 0) writes(to, static_cast<std::size_t>(n) + 1, CALLED_FROM);
  return n;
}

// As -D_FORTIFY_SOURCE has them.
[[noreturn]] void __chk_fail();

void* __memcpy_chk(void* __restrict to, const void* __restrict from, std::size_t n, std::size_t room) {
  if (n > room) __chk_fail();
  if (ready) {
    reads(from, n, CALLED_FROM);
    writes(to, n, CALLED_FROM);
  }
  return copy.find()(to, from, n);
}

void* __memmove_chk(void* to, const void* from, std::size_t n, std::size_t room) {
  if (n > room) __chk_fail();
  if (ready) {
    reads(from, n, CALLED_FROM);
    writes(to, n, CALLED_FROM);
  }
  return move.find()(to, from, n);
}

void* __memset_chk(void* to, int value, std::size_t n, std::size_t room) {
  if (n > room) __chk_fail();
  if (ready) writes(to, n, CALLED_FROM);
  return set.find()(to, value, n);
}

char* __strcpy_chk(char* __restrict to, const char* __restrict from, std::size_t room) {
  const std::size_t n = length_of(from) + 1;
  if (n > room) __chk_fail();
  if (ready) {
    reads(from, n, CALLED_FROM);
    writes(to, n, CALLED_FROM);
  }
  return static_cast<char*>(copy.find()(to, from, n));
}

// --- files ---

ssize_t read(int file, void* to, std::size_t most) {
  const ssize_t n = read_from.find()(file, to, most);
  if (ready) writes(to, most_of(n), CALLED_FROM);
  return n;
}

ssize_t write(int file, const void* from, std::size_t n) {
  if (ready) reads(from, n, CALLED_FROM);
  return write_to.find()(file, from, n);
}

std::size_t fread(void* to, std::size_t size, std::size_t most, void* file) {
  const std::size_t n = read_stream.find()(to, size, most, file);
  if (ready) writes(to, n * size, CALLED_FROM);
  return n;
}

std::size_t fwrite(const void* from, std::size_t size, std::size_t n, void* file) {
  if (ready) reads(from, n * size, CALLED_FROM);
  return write_stream.find()(from, size, n, file);
}

char* fgets(char* to, int most, void* file) {
  char* const line = read_line.find()(to, most, file);
  if (ready && line) writes(line, length_of(line) + 1, CALLED_FROM);
  return line;
}

// --- std::map and std::list: who puts something in or takes it out writes the whole's head and what lies beside it ---

void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(bool left, void* node, void* parent,
                                                                       void* head) noexcept {
  writes(node, tree_node, CALLED_FROM);
  writes(parent, tree_node, CALLED_FROM);
  writes(head, tree_node, CALLED_FROM);
  of_library(put_in_tree)(left, node, parent, head);
}

void* _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(void* node, void* head) noexcept {
  writes(node, tree_node, CALLED_FROM);
  writes(head, tree_node, CALLED_FROM);
  return of_library(take_from_tree)(node, head);
}

#define IN_TREE(NAME, FUNCTION)          \
  void* NAME(void* node) noexcept {      \
    reads(node, tree_node, CALLED_FROM); \
    return of_library(FUNCTION)(node);   \
  }
IN_TREE(_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base, next_in_tree)
IN_TREE(_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base, next_in_tree)
IN_TREE(_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base, before_in_tree)
IN_TREE(_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base, before_in_tree)
#undef IN_TREE

void _ZNSt8__detail15_List_node_base7_M_hookEPS0_(void* node, void** next) noexcept {
  writes(next[1], list_node, CALLED_FROM);
  writes(next, list_node, CALLED_FROM);
  writes(node, list_node, CALLED_FROM);
  of_library(put_in_list)(node, next);
}

void _ZNSt8__detail15_List_node_base9_M_unhookEv(void** node) noexcept {
  writes(node[0], list_node, CALLED_FROM);
  writes(node[1], list_node, CALLED_FROM);
  reads(node, list_node, CALLED_FROM);
  of_library(take_from_list)(node);
}

void _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(void** next, void** first, void** last) noexcept {
  for (void** const one : {next, first, last}) {
    writes(one[1], list_node, CALLED_FROM);
    writes(one, list_node, CALLED_FROM);
  }
  of_library(move_in_list)(next, first, last);
}

// --- the heap: a block that is handed out has no history. glibc's own names of what it replaces. ---

void* __libc_malloc(std::size_t n);
void* __libc_calloc(std::size_t n, std::size_t size);
void* __libc_realloc(void* at, std::size_t n);
void* __libc_memalign(std::size_t alignment, std::size_t n);
void __libc_free(void* at);

// With what lies behind the bytes that were asked for: the end of the block is an access of all that.
void* malloc(std::size_t n) noexcept {
  void* const at = __libc_malloc(n);
  if (at) allocated(at, malloc_usable_size(at), HEAP_CALLED_FROM);
  return at;
}

void* calloc(std::size_t n, std::size_t size) noexcept {
  void* const at = __libc_calloc(n, size);
  if (at) allocated(at, malloc_usable_size(at), HEAP_CALLED_FROM);
  return at;
}

void* realloc(void* before, std::size_t n) noexcept {
  const bool is_watched = before && watches_freed();
  const std::size_t had = before ? malloc_usable_size(before) : 0;
  const bool was_mapped = is_watched && is_mapped(before);
  void* const at = __libc_realloc(before, n);
  if (!at && n != 0) return nullptr;  // the block stays
  if (is_watched) freed(before, had, was_mapped && at != before, CALLED_FROM);
  if (before && at != before) ended(before);
  if (!at) return nullptr;
  const std::size_t has = malloc_usable_size(at);
  if (at != before) {
    allocated(at, has, CALLED_FROM);
  } else if (has > had) {
    grown(static_cast<char*>(at) + had, has - had);
  }
  return at;
}

void* memalign(std::size_t alignment, std::size_t n) noexcept {
  void* const at = __libc_memalign(alignment, n);
  if (at) allocated(at, malloc_usable_size(at), HEAP_CALLED_FROM);
  return at;
}

void* reallocarray(void* before, std::size_t n, std::size_t size) noexcept {
  if (size != 0 && n > ~std::size_t{0} / size) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(before, n * size);
}

void* aligned_alloc(std::size_t alignment, std::size_t n) noexcept { return memalign(alignment, n); }

int posix_memalign(void** to, std::size_t alignment, std::size_t n) noexcept {
  void* const at = memalign(alignment, n);
  if (!at) return ENOMEM;
  *to = at;
  return 0;
}

void free(void* at) noexcept {
  if (!at) return;
  const bool is_watched = watches_freed();
  if (is_watched) freed(at, malloc_usable_size(at), is_mapped(at), HEAP_CALLED_FROM);
  ended(at);
  __libc_free(is_watched ? lately_freed.put(at) : at);
}

// --- std::exception_ptr: a count of owners, which the C++ library takes down; the last one destroys the exception ---

void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void** pointer) noexcept {
  // As libstdc++ has it: the count is the first word of what lies in front of an exception.
  constexpr std::size_t header = 128;
  if (*pointer) {
    const void* const count = static_cast<const char*>(*pointer) - header;
    counted_down(count, *static_cast<const int*>(count) == 1);
  }
  of_library(release_exception)(pointer);
}

// --- std::pmr's pools: as the heap. That with no lock of its own is written by who takes memory from it or gives some
// back ---

void* _ZNSt3pmr26synchronized_pool_resource11do_allocateEmm(void* pool, std::size_t n, std::size_t alignment) {
  void* const at = of_library(take_from_pool)(pool, n, alignment);
  grown(at, n);
  return at;
}

void _ZNSt3pmr26synchronized_pool_resource13do_deallocateEPvmm(void* pool, void* at, std::size_t n,
                                                               std::size_t alignment) {
  if (watches_freed()) freed(at, n, false, CALLED_FROM);
  of_library(give_to_pool)(pool, at, n, alignment);
}

void* _ZNSt3pmr28unsynchronized_pool_resource11do_allocateEmm(void* pool, std::size_t n, std::size_t alignment) {
  writes(static_cast<void**>(pool) + 1, sizeof(void*), CALLED_FROM);
  void* const at = of_library(take_from_own_pool)(pool, n, alignment);
  grown(at, n);
  return at;
}

void _ZNSt3pmr28unsynchronized_pool_resource13do_deallocateEPvmm(void* pool, void* at, std::size_t n,
                                                                 std::size_t alignment) {
  writes(static_cast<void**>(pool) + 1, sizeof(void*), CALLED_FROM);
  if (watches_freed()) freed(at, n, false, CALLED_FROM);
  of_library(give_to_own_pool)(pool, at, n, alignment);
}

// --- locks: nothing waits for them in one thread. A mutex's count lies where glibc has it. ---

int pthread_mutex_lock(pthread_mutex_t* m) noexcept {
  if (m->__data.__count++ == 0) acquired(m, false);
  return 0;
}

int pthread_mutex_trylock(pthread_mutex_t* m) noexcept {
  if (m->__data.__count != 0 && (m->__data.__kind & 3) != PTHREAD_MUTEX_RECURSIVE_NP) return EBUSY;
  return pthread_mutex_lock(m);
}

int pthread_mutex_timedlock(pthread_mutex_t* m, const timespec*) noexcept {
  return pthread_mutex_trylock(m) == 0 ? 0 : ETIMEDOUT;
}

int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t, const timespec*) noexcept {
  return pthread_mutex_trylock(m) == 0 ? 0 : ETIMEDOUT;
}

int pthread_mutex_unlock(pthread_mutex_t* m) noexcept {
  if (m->__data.__count != 0 && --m->__data.__count == 0) released(m);
  return 0;
}

int pthread_rwlock_rdlock(pthread_rwlock_t* l) noexcept {
  acquired(l, true);
  return 0;
}
int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) noexcept { return pthread_rwlock_rdlock(l); }
int pthread_rwlock_wrlock(pthread_rwlock_t* l) noexcept {
  acquired(l, false);
  return 0;
}
int pthread_rwlock_trywrlock(pthread_rwlock_t* l) noexcept { return pthread_rwlock_wrlock(l); }
int pthread_rwlock_timedrdlock(pthread_rwlock_t* l, const timespec*) noexcept { return pthread_rwlock_rdlock(l); }
int pthread_rwlock_timedwrlock(pthread_rwlock_t* l, const timespec*) noexcept { return pthread_rwlock_wrlock(l); }
int pthread_rwlock_clockrdlock(pthread_rwlock_t* l, clockid_t, const timespec*) noexcept {
  return pthread_rwlock_rdlock(l);
}
int pthread_rwlock_clockwrlock(pthread_rwlock_t* l, clockid_t, const timespec*) noexcept {
  return pthread_rwlock_wrlock(l);
}
int pthread_rwlock_unlock(pthread_rwlock_t* l) noexcept {
  released(l);
  return 0;
}

int pthread_spin_lock(pthread_spinlock_t* l) noexcept {
  acquired(const_cast<const int*>(l), false);
  return 0;
}
int pthread_spin_trylock(pthread_spinlock_t* l) noexcept { return pthread_spin_lock(l); }
int pthread_spin_unlock(pthread_spinlock_t* l) noexcept {
  released(const_cast<const int*>(l));
  return 0;
}

// --- what is made once, by the strand that comes first; the others wait until it is there ---

int pthread_once(pthread_once_t* flag, void (*f)()) {
  once_begins();
  const struct ender {
    ~ender() { once_ends(); }
  } at_end;
  return run_once.find()(flag, f);
}

// The first byte of a guard tells whether the variable is there: the binary interface of C++.
int __cxa_guard_acquire(std::uint64_t* guard) noexcept {
  if (*reinterpret_cast<const char*>(guard) != 0) return 0;
  once_begins();
  return 1;
}

void __cxa_guard_release(std::uint64_t* guard) noexcept {
  *reinterpret_cast<char*>(guard) = 1;
  once_ends();
}

void __cxa_guard_abort(std::uint64_t*) noexcept { once_ends(); }

// --- ends at which no destructor runs ---

[[gnu::noreturn]] void _exit(int status) {
  original<void(int)>{"_exit"}.find()(ends_early(status));
  __builtin_unreachable();
}

[[gnu::noreturn]] void _Exit(int status) { _exit(status); }

[[gnu::noreturn]] void quick_exit(int status) {
  original<void(int)>{"quick_exit"}.find()(ends_early(status));
  __builtin_unreachable();
}

[[gnu::noreturn]] void abort() {
  ends_early(0);
  original<void()>{"abort"}.find()();
  __builtin_unreachable();
}

// --- memory of the system, which has no history, though its addresses may ---

namespace {

void* mapped(original<void*(void*, std::size_t, int, int, int, off_t)>& map, void* hint, std::size_t n, int rights,
             int how, int file, off_t from) noexcept {
  void* const at = map.find()(hint, n, rights, how, file, from);
  if (at != MAP_FAILED && (how & MAP_FIXED) == 0) grown(at, n);
  return at;
}

original<void*(void*, std::size_t, int, int, int, off_t)> map_pages{"mmap"}, map_pages_64{"mmap64"};

}  // namespace

void* map_now(void* hint, std::size_t n, int rights, int how, int file, off_t from) noexcept {
  return mapped(map_pages, hint, n, rights, how, file, from);
}
void* map_now_64(void* hint, std::size_t n, int rights, int how, int file, off_t from) noexcept {
  return mapped(map_pages_64, hint, n, rights, how, file, from);
}

// --- what one thread cannot do ---

// What std::counting_semaphore, std::future and the waits of std::atomic sleep in.
long syscall(long number, ...) noexcept {
  long argument[6];
  std::va_list all;
  va_start(all, number);
  for (long& each : argument) each = va_arg(all, long);
  va_end(all);
  const long kind = argument[1] & ~static_cast<long>(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
  const bool is_for_ever = number == SYS_futex && argument[3] == 0 && (kind == FUTEX_WAIT || kind == FUTEX_WAIT_BITSET);
  if (is_for_ever && *reinterpret_cast<const int*>(argument[0]) == static_cast<int>(argument[2]))
    refuse("the program waits for what another strand has to bring about, which a serial run cannot do");
  return call_system.find()(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept {
  refuse("the program starts a thread, and the detector watches one strand after another in a single thread");
}

int pthread_cond_wait(pthread_cond_t*, pthread_mutex_t*) {
  refuse("the program waits for a condition that another strand has to bring about, which a serial run cannot do");
}

int pthread_cond_timedwait(pthread_cond_t*, pthread_mutex_t*, const timespec*) {
  refuse("the program waits for a condition that another strand has to bring about, which a serial run cannot do");
}

int pthread_cond_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*) {
  refuse("the program waits for a condition that another strand has to bring about, which a serial run cannot do");
}
}

// --- new and delete, by the same ways as the C++ library's own; a program's own come before them ---

namespace {

/// As the operator new that calls it: from `allocate`, or an exception.
template <class F>
void* allocated_by(F allocate) {
  for (;;) {
    if (void* const at = allocate()) return at;
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

/// As the operator new that calls it: null in place of an exception.
template <class F>
void* allocated_or_null(F allocate) noexcept {
  try {
    return allocate();
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

#define ALLOCATES(NAME, FORWARDED, ...)   \
  [[gnu::weak]] void* NAME(__VA_ARGS__) { \
    const called_from here(CALLED_FROM);  \
    return FORWARDED;                     \
  }
ALLOCATES(operator new, allocated_by([=] { return malloc(n ? n : 1); }), std::size_t n)
ALLOCATES(operator new[], operator new(n), std::size_t n)
ALLOCATES(operator new, allocated_by([=] { return memalign(static_cast<std::size_t>(to), n ? n : 1); }), std::size_t n,
          std::align_val_t to)
ALLOCATES(operator new[], operator new(n, to), std::size_t n, std::align_val_t to)
#undef ALLOCATES
#define ALLOCATES(NAME, FORWARDED, ...)                  \
  [[gnu::weak]] void* NAME(__VA_ARGS__) noexcept {       \
    const called_from here(CALLED_FROM);                 \
    return allocated_or_null([=] { return FORWARDED; }); \
  }
ALLOCATES(operator new, operator new(n), std::size_t n, const std::nothrow_t&)
ALLOCATES(operator new[], operator new[](n), std::size_t n, const std::nothrow_t&)
ALLOCATES(operator new, operator new(n, to), std::size_t n, std::align_val_t to, const std::nothrow_t&)
ALLOCATES(operator new[], operator new[](n, to), std::size_t n, std::align_val_t to, const std::nothrow_t&)
#undef ALLOCATES

#define DELETES(NAME, FORWARDED, ...)                      \
  [[gnu::weak]] void operator NAME(__VA_ARGS__) noexcept { \
    const called_from here(CALLED_FROM);                   \
    FORWARDED;                                             \
  }
DELETES(delete, free(at), void* at)
DELETES(delete, operator delete(at), void* at, std::size_t)
DELETES(delete, operator delete(at), void* at, const std::nothrow_t&)
DELETES(delete, free(at), void* at, std::align_val_t)
DELETES(delete, operator delete(at, alignment), void* at, std::size_t, std::align_val_t alignment)
DELETES(delete, operator delete(at, alignment), void* at, std::align_val_t alignment, const std::nothrow_t&)
DELETES(delete[], operator delete(at), void* at)
DELETES(delete[], operator delete[](at), void* at, std::size_t)
DELETES(delete[], operator delete[](at), void* at, const std::nothrow_t&)
DELETES(delete[], operator delete(at, alignment), void* at, std::align_val_t alignment)
DELETES(delete[], operator delete[](at, alignment), void* at, std::size_t, std::align_val_t alignment)
DELETES(delete[], operator delete[](at, alignment), void* at, std::align_val_t alignment, const std::nothrow_t&)
#undef DELETES
