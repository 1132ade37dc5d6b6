// One worker of a runtime is stopped at a random point, for as long as it takes: fibers that do not need it finish. A
// worker that is stopped while it holds a lock, or while it counts as the one that looks for work, holds others up;
// such a stop counts as inside of a critical section of the runtime, and the test says how many there were, by
// function.
//
// The test's own process stops threads of a forked copy, which has the same code at the same addresses.

#include <cxxabi.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/go.hpp"
#include "test/process/child.hpp"
#include "test/support.hpp"

namespace {

using namespace std::chrono_literals;

// What the two processes say to each other.
struct shared {
  std::atomic<unsigned> asked{0}, done{0};
};

long fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = fj::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

// While one worker stands still. Begun by a thread that is none.
long probe(fj::runtime& rt) {
  auto begun = rt.go([] {
    const fj::channel<long> c(0);
    auto sends = fj::go([=] { c.send(fib(10)); });
    const auto [a, b] = fj::fork_join([] { return fib(10); }, [=] { return c.receive().value_or(0); });
    sends.get();
    return a + b;
  });
  return begun.get();
}

// Every P has fibers that fork and give way, so no worker sleeps for long.
[[noreturn]] void be_stopped(shared& words) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  fj::runtime rt(test::with_procs(3));
  for (int i = 0; i < 6; ++i) {
    static_cast<void>(rt.go([] {
      for (;;) {
        if (fib(12) != 144) std::_Exit(3);
        fj::yield();
      }
    }));
  }
  for (unsigned n = 1;; ++n) {
    while (words.asked < n) std::this_thread::sleep_for(50us);
    if (probe(rt) != 110) std::_Exit(4);
    words.done = n;
  }
}

// The functions of this program, by address.
class functions {
 public:
  functions() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    const std::string image{std::istreambuf_iterator<char>(file), {}};
    const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(image.data());
    const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(image.data() + header.e_shoff);
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      if (sections[i].sh_type != SHT_SYMTAB) continue;
      const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(image.data() + sections[i].sh_offset);
      const char* const names = image.data() + sections[sections[i].sh_link].sh_offset;
      for (std::size_t s = 0; s < sections[i].sh_size / sizeof(ElfW(Sym)); ++s) {
        if ((symbols[s].st_info & 0xf) != STT_FUNC || symbols[s].st_size == 0) continue;
        all_[symbols[s].st_value] = {symbols[s].st_size, names + symbols[s].st_name};
      }
    }
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* base) {
          *static_cast<std::uintptr_t*>(base) = info->dlpi_addr;
          return 1;  // the program comes first
        },
        &base_);
  }

  /// Empty: in no function of this program.
  std::string at(std::uintptr_t address) const {
    const auto found = around(address);
    if (found == all_.end()) return {};
    const std::string& symbol = found->second.name;
    int status = 0;
    char* const readable = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    std::string name = status == 0 ? readable : symbol;
    std::free(readable);
    return name;
  }

  /// Whether the instruction before this address calls the function of that other address, by its first instruction.
  bool returns_from(std::uintptr_t address, std::uintptr_t callee) const {
    const auto caller = around(address), called = around(callee);
    if (caller == all_.end() || called == all_.end() || address - base_ < caller->first + call_size) return false;
    return target_of_call_before(address) - base_ == called->first;
  }

 private:
  struct function {
    std::size_t size;
    std::string name;
  };

  std::map<std::uintptr_t, function>::const_iterator around(std::uintptr_t address) const {
    const auto after = all_.upper_bound(address - base_);
    if (after == all_.begin()) return all_.end();
    const auto found = std::prev(after);
    return address - base_ < found->first + found->second.size ? found : all_.end();
  }

#if defined(__x86_64__)  // E8, and a distance of four bytes
  static constexpr std::size_t call_size = 5;
  static std::uintptr_t target_of_call_before(std::uintptr_t address) {
    const auto* const call = reinterpret_cast<const unsigned char*>(address - call_size);
    std::int32_t distance = 0;
    std::memcpy(&distance, call + 1, sizeof(distance));
    return call[0] == 0xe8 ? address + static_cast<std::uintptr_t>(std::intptr_t{distance}) : 0;
  }
#elif defined(__aarch64__)  // bl, and a distance of 26 bits in words
  static constexpr std::size_t call_size = 4;
  static std::uintptr_t target_of_call_before(std::uintptr_t address) {
    std::uint32_t call = 0;
    std::memcpy(&call, reinterpret_cast<const void*>(address - call_size), sizeof(call));
    const auto distance = static_cast<std::int32_t>(call << 6) >> 4;
    return call >> 26 == 0x25 ? address - call_size + static_cast<std::uintptr_t>(std::intptr_t{distance}) : 0;
  }
#endif

  std::map<std::uintptr_t, function> all_;
  std::uintptr_t base_ = 0;
};

#if defined(__x86_64__)
std::uintptr_t counter_of(const user_regs_struct& r) { return r.rip; }
std::uintptr_t stack_of(const user_regs_struct& r) { return r.rsp; }
#elif defined(__aarch64__)
std::uintptr_t counter_of(const user_regs_struct& r) { return r.pc; }
std::uintptr_t stack_of(const user_regs_struct& r) { return r.sp; }
#endif

/// A thread of another process that stands still while this lives.
class stopped_thread {
 public:
  explicit stopped_thread(pid_t thread) : thread_(thread) {
    if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
      error_ = errno;
      return;
    }
    int status = 0;
    if (ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0 || waitpid(thread, &status, __WALL) != thread)
      error_ = errno;
  }
  ~stopped_thread() {
    if (error_ == 0) ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
  }
  stopped_thread(const stopped_thread&) = delete;
  stopped_thread& operator=(const stopped_thread&) = delete;

  int error() const { return error_; }

  /// The function where it stands. While that is one of the runtime, those that called it follow; if it is none of this
  /// program, as in the C library, all to which the newest words of its stack may return.
  std::vector<std::string> where(const functions& all) const {
    user_regs_struct registers{};
    iovec into{&registers, sizeof(registers)};
    if (ptrace(PTRACE_GETREGSET, thread_, NT_PRSTATUS, &into) != 0) return {};
    std::uintptr_t at = counter_of(registers);
    std::vector<std::string> found{all.at(at)};
    std::array<std::uintptr_t, 96> words{};
    const iovec local{words.data(), sizeof(words)};
    const iovec remote{reinterpret_cast<void*>(stack_of(registers)), sizeof(words)};
    const ssize_t got = process_vm_readv(thread_, &local, 1, &remote, 1, 0);
    const bool is_elsewhere = found.front().empty();
    for (std::size_t i = 0; i < words.size() && static_cast<ssize_t>(i * sizeof(words[0])) < got; ++i) {
      std::string name = all.at(words[i]);
      if (name.empty()) continue;
      if (!is_elsewhere) {
        if (found.back().find("fj::v0_4::detail::") == std::string::npos) break;
        if (!all.returns_from(words[i], at)) continue;
        at = words[i];
      }
      found.push_back(std::move(name));
    }
    return found;
  }

 private:
  const pid_t thread_;
  int error_ = 0;
};

// Where the runtime holds a lock that other workers take, keeps a P or a fiber that it has not begun to run, or counts
// as the worker that looks for work. A compiler puts some of these functions into those that call them, and leaves
// others for them to call. Tried without those that called: with clang 19 a worker that stood in ready_queue, with a
// lock held, held others up.
constexpr std::array<std::string_view, 14> critical_functions{
    "dispatcher::",  "ready_work::",  "work_search::",  "thief::",     "forcer::",
    "worker_loop::", "local_queue::", "yield_strand(",  "make_ready(", "active_deque::",
    "stack_pool::",  "deque_pool::",  "worker::sleep(", "job_of_go::"};

const std::string* critical(const std::vector<std::string>& where) {
  const auto is_critical = [](const std::string& name) {
    return std::any_of(critical_functions.begin(), critical_functions.end(),
                       [&](std::string_view part) { return name.find(part) != name.npos; });
  };
  const auto found = std::find_if(where.begin(), where.end(), is_critical);
  return found == where.end() ? nullptr : &*found;
}

std::string in_words(const std::vector<std::string>& where) {
  std::string text;
  for (const std::string& name : where) text += "\n    " + (name.empty() ? "other code" : name);
  return text;
}

std::vector<pid_t> workers_of(pid_t process) {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", gone))
    if (const pid_t thread = std::stoi(entry.path().filename()); thread != process) found.push_back(thread);
  return found;
}

bool comes_true(auto what, std::chrono::milliseconds within) {
  const auto end = std::chrono::steady_clock::now() + within;
  while (!what()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(20us);
  }
  return true;
}

}  // namespace

int main() {
  void* const room = mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return 1;
  shared& words = *new (room) shared;
  const pid_t copy = fork();
  if (copy == 0) be_stopped(words);
  const functions all;
  test::verdict verdict;
  test::dice dice(std::random_device{}());
  std::map<std::string, std::pair<int, int>> inside;  // stops, and those that held others up
  int stops = 0, stops_outside = 0;
  const auto ask = [&] { ++words.asked; };
  const auto answered = [&] { return words.done == words.asked; };
  ask();
  verdict.check(comes_true(answered, 20s), "the copy does not work");
  for (; stops < 1000 && verdict.exit_code() == 0; ++stops) {
    std::this_thread::sleep_for(std::chrono::microseconds(dice.below(300)));
    const std::vector<pid_t> workers = workers_of(copy);
    if (workers.empty()) return 1;
    {
      const stopped_thread one(workers[dice.below(static_cast<unsigned>(workers.size()))]);
      if (one.error() != 0) {
        std::printf("not tested: ptrace is refused: %s\n", std::strerror(one.error()));
        kill(copy, SIGKILL);
        return 77;
      }
      const auto where = one.where(all);
      ask();
      if (const std::string* const section = critical(where)) {
        auto& [count, held_up] = inside[*section];
        ++count;
        held_up += !comes_true(answered, 50ms);
      } else {
        ++stops_outside;
        verdict.check(comes_true(answered, 20s), "a worker that stood still held others up in " + in_words(where));
      }
    }
    verdict.check(comes_true(answered, 20s), "others do not go on with the worker that stood still");
  }
  std::printf("%d stops, %d of them inside of the runtime's critical sections:\n", stops, stops - stops_outside);
  for (const auto& [name, counts] : inside)
    std::printf("%5d, %d of which held others up: %s\n", counts.first, counts.second, name.c_str());
  verdict.check(2 * stops_outside > stops, "most stops were inside");
  kill(copy, SIGKILL);
  return verdict.exit_code();
}
