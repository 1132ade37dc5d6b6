#include "runtime/environment.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/tuning.hpp"
#include "runtime/os/interrupt.hpp"
#include "runtime/os/membarrier.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/os/topology.hpp"
#include "runtime/os/turns.hpp"
#include "runtime/os/variable.hpp"
#include "runtime/replay.hpp"
#include "runtime/stacks/large_stacks.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

constexpr unsigned max_procs = 4096;
constexpr unsigned max_max_workers = 65536;
// Threads in long calls of fj::blocking at a time, unless the options say otherwise.
constexpr unsigned blocking_threads = 256;
constexpr unsigned procs_in_turns = 4;
constexpr std::size_t min_stack = std::size_t{16} << 10;
constexpr std::size_t max_stack = large_stacks::most;

// The number in that variable, from `least` to `most`. `otherwise`: what else the user may do.
std::uint64_t number_from_environment(const char* name, const char* text, std::uint64_t least, std::uint64_t most,
                                      const char* otherwise) {
  std::uint64_t value = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  if (error != std::errc() || rest != end || value < least || value > most)
    throw std::invalid_argument("forkjoin: " + std::string(name) + " is \"" + text + "\"; set it to a number from " +
                                std::to_string(least) + " to " + std::to_string(most) + ", or " + otherwise);
  return value;
}

std::uint64_t seed_from_environment() {
  const char* const text = os::variable("FORKJOIN_CHAOS");
  if (!text || std::string_view(text) == "0") return 0;
  return number_from_environment("FORKJOIN_CHAOS", text, 1, std::numeric_limits<std::uint64_t>::max(),
                                 "to 0 for no chaos, or unset it");
}

unsigned resolve_procs(unsigned wanted) {
  if (wanted > max_procs)
    throw std::invalid_argument("forkjoin: options::procs is " + std::to_string(wanted) + "; set it to at most " +
                                std::to_string(max_procs) + ", or to 0 to use the processors available");
  if (wanted != 0) return wanted;
  if (const char* const text = os::variable("FORKJOIN_PROCS"))
    return static_cast<unsigned>(
        number_from_environment("FORKJOIN_PROCS", text, 1, max_procs, "unset it to use the processors available"));
  // A schedule is to be the same on any machine.
  return os::turns::mine() ? procs_in_turns : std::min(os::available_cpus(), max_procs);
}

// Empty: off.
std::string topology_from_environment() {
  const char* const text = os::variable("FORKJOIN_TOPOLOGY");
  if (!text || std::string_view(text) == "0") return {};
  if (std::string_view(text) == "1") return "/";
  if (*text == '/') return text;
  throw std::invalid_argument("forkjoin: FORKJOIN_TOPOLOGY is \"" + std::string(text) +
                              "\"; set it to 0, to 1, or to the folder that is to be read in place of /, or unset it");
}

std::atomic<std::size_t> least_stack{0};

std::size_t resolve_stack(const std::string& option, std::size_t size, const char* variable, std::size_t by_default) {
  if (size == 0) {
    const char* const text = os::variable(variable);
    if (!text) return by_default;
    return number_from_environment(variable, text, min_stack, max_stack,
                                   ("unset it for " + std::to_string(by_default)).c_str());
  }
  if (size < min_stack || size > max_stack)
    throw std::invalid_argument("forkjoin: options::" + option + " is " + std::to_string(size) +
                                " bytes; set it to at least " + std::to_string(min_stack) + " and at most " +
                                std::to_string(max_stack) + ", or to 0 for " + std::to_string(by_default));
  return size;
}

// 0: none.
int resolve_fence_signal(int wanted) {
  if (wanted != 0) {
    if (os::may_be_interrupt_signal(wanted)) return wanted;
    throw std::invalid_argument("forkjoin: options::fence_signal is " + std::to_string(wanted) +
                                "; set it to the number of a signal that the program does not use, or to 0 for SIGURG");
  }
  const char* const text = os::variable("FORKJOIN_FENCE_SIGNAL");
  if (!text) return os::usual_interrupt_signal();
  constexpr const char* otherwise = "to 0 for none, or unset it for SIGURG";
  const auto number = static_cast<int>(
      number_from_environment("FORKJOIN_FENCE_SIGNAL", text, 0, std::numeric_limits<int>::max(), otherwise));
  if (number != 0 && !os::may_be_interrupt_signal(number))
    throw std::invalid_argument(
        "forkjoin: FORKJOIN_FENCE_SIGNAL is \"" + std::string(text) +
        "\", which is no signal that a program can handle; set it to one that this program does not use, " + otherwise);
  return number;
}

// The option, or the variable with "%p" and the runtime's number filled in.
std::string file_from(const char* option, const char* variable, std::atomic<unsigned>& runtimes) {
  if (option) return option;
  const char* const text = os::variable(variable);
  if (!text) return {};
  std::string path = text;
  const std::string process = std::to_string(os::process_id());
  for (std::size_t at = 0; (at = path.find("%p", at)) != std::string::npos; at += process.size())
    path.replace(at, 2, process);
  // The child of fork(2) must not write where its parent does.
  if (os::process_generation() != 0 && path == text) path += "." + process;
  const unsigned number = runtimes.fetch_add(1, std::memory_order_relaxed) + 1;
  return number == 1 ? path : path + "." + std::to_string(number);
}

}  // namespace

void set_least_stack(std::size_t bytes) noexcept {
  least_stack.store(std::min(bytes, max_stack), std::memory_order_relaxed);
}

settings resolve(const options& wanted) {
  if (wanted.max_workers > max_max_workers)
    throw std::invalid_argument("forkjoin: options::max_workers is " + std::to_string(wanted.max_workers) +
                                "; set it to at most " + std::to_string(max_max_workers) + ", or to 0 for " +
                                std::to_string(blocking_threads) + " more than there are P");
  settings chosen;
  chosen.on_worker_start = wanted.on_worker_start;
  chosen.on_worker_stop = wanted.on_worker_stop;
  chosen.procs = resolve_procs(wanted.procs);
  chosen.follows = flag_from_environment("FORKJOIN_FOLLOW", true) && wanted.procs == 0 &&
                   !os::variable("FORKJOIN_PROCS") && !os::turns::mine();
  chosen.max_workers = wanted.max_workers != 0 ? wanted.max_workers : chosen.procs + blocking_threads;
  chosen.stack_size =
      std::max(resolve_stack("stack_size", wanted.stack_size, "FORKJOIN_STACK_SIZE", tuning::large_stack),
               least_stack.load(std::memory_order_relaxed));
  chosen.go_stack_size =
      resolve_stack("go_stack_size", wanted.go_stack_size, "FORKJOIN_GO_STACK_SIZE", tuning::small_stack);
  chosen.steal_every_fork = flag_from_environment("FORKJOIN_STEAL_EVERY_FORK", false) || wanted.steal_every_fork;
  chosen.thread_order = flag_from_environment("FORKJOIN_TSAN_THREAD_ORDER", false) || wanted.thread_order;
  chosen.chaos = wanted.chaos != 0 ? wanted.chaos : seed_from_environment();
  const std::uint64_t schedule = schedule_from(wanted).seed;
  if (chosen.chaos == 0 && schedule_chooser::is_chaotic(schedule)) chosen.chaos = schedule;
  chosen.in_turns = os::turns::mine() != nullptr;
  // A schedule depends on nothing outside of the program.
  if (std::string folder = topology_from_environment(); !chosen.in_turns) chosen.topology = std::move(folder);
  chosen.eager = chosen.steal_every_fork || chosen.in_turns;  // a record that is to be stolen must be public
  const bool has_membarrier = flag_from_environment("FORKJOIN_MEMBARRIER", true) && os::membarrier_register();
  if (!chosen.eager && !has_membarrier) {
    const int wish = resolve_fence_signal(wanted.fence_signal);
    const int present = os::interrupt_signal();  // of the first one that needed a signal
    chosen.by_signal = wish != 0 && os::allow_interrupts(present != 0 ? present : wish);
    chosen.eager = !chosen.by_signal;
  }
  return chosen;
}

replay schedule_from(const options& wanted) {
  if (wanted.schedule.seed != 0) return wanted.schedule;
  if (wanted.schedule.changes) schedule_chooser::refuse(wanted.schedule.changes);
  const char* const text = os::variable("FORKJOIN_SCHEDULE");
  if (!text || std::string_view(text) == "0") return {};
  replay found;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, found.seed);
  if (error != std::errc() || found.seed == 0 || (*rest != '\0' && *rest != ':')) schedule_chooser::refuse(text);
  if (rest != end) found.changes = rest + 1;
  return found;
}

std::string trace_file(const options& wanted) {
  static std::atomic<unsigned> runtimes{0};
  return file_from(wanted.trace, "FORKJOIN_TRACE", runtimes);
}

std::string flight_recorder_file(const options& wanted) {
  static std::atomic<unsigned> runtimes{0};
  return file_from(wanted.flight_recorder, "FORKJOIN_FLIGHT_RECORDER", runtimes);
}

std::int64_t long_run_from_environment() {
  constexpr std::int64_t usual_ms = 100, ns_of_ms = 1'000'000;
  constexpr std::uint64_t most_ms = 1'000'000'000;
  const char* const text = os::variable("FORKJOIN_LONG_RUN_MS");
  if (!text) return usual_ms * ns_of_ms;
  return static_cast<std::int64_t>(
             number_from_environment("FORKJOIN_LONG_RUN_MS", text, 0, most_ms, "unset it for 100")) *
         ns_of_ms;
}

std::uint64_t trace_events_from_environment() {
  constexpr std::uint64_t least = 64, most = std::uint64_t{1} << 24, usual = std::uint64_t{1} << 16;
  const char* const text = os::variable("FORKJOIN_TRACE_EVENTS");
  if (!text) return usual;
  return std::bit_ceil(number_from_environment("FORKJOIN_TRACE_EVENTS", text, least, most, "unset it for 65536"));
}

lost_fibers_watch lost_fibers_from_environment() {
  // A look stops the program for 2 to 3 ms for each MiB of small blocks: with 32 for less than a tenth of a second.
  constexpr std::uint64_t usual_mebibytes = 32, usual_ms = 1000;
  constexpr std::uint64_t most_mebibytes = std::uint64_t{1} << 24, most_ms = 1'000'000'000;
  constexpr std::int64_t ns_of_ms = 1'000'000;
  if (!flag_from_environment("FORKJOIN_LOST", false)) return {};
  const char* const heap = os::variable("FORKJOIN_LOST_HEAP");
  const char* const rest = os::variable("FORKJOIN_LOST_MS");
  const auto mebibytes = heap
                             ? number_from_environment("FORKJOIN_LOST_HEAP", heap, 1, most_mebibytes, "unset it for 32")
                             : usual_mebibytes;
  const auto ms = rest ? number_from_environment("FORKJOIN_LOST_MS", rest, 1, most_ms, "unset it for 1000") : usual_ms;
  return {.most_bytes = mebibytes << 20, .rest_ns = static_cast<std::int64_t>(ms) * ns_of_ms};
}

bool flag_from_environment(const char* name, bool otherwise) {
  const char* const text = os::variable(name);
  if (!text) return otherwise;
  const std::string_view wish = text;
  if (wish != "0" && wish != "1")
    throw std::invalid_argument("forkjoin: " + std::string(name) + " is \"" + text +
                                "\"; set it to 0 or 1, or unset it");
  return wish == "1";
}

}}}  // namespace fj::v0_4::detail
