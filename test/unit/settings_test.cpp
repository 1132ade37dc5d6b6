// From options and environment to settings: defaults, and clear errors for values that make no sense.
#include "runtime/environment.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "forkjoin/fork_each.hpp"
#include "forkjoin/go.hpp"
#include "runtime/os/topology.hpp"
#include "test/support.hpp"
#include "test/threads.hpp"

namespace {

using namespace fj::detail;

std::string complaint(const fj::options& wanted) {
  try {
    resolve(wanted);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("settings: defaults") {
  const test::environment procs("FORKJOIN_PROCS", nullptr), steal("FORKJOIN_STEAL_EVERY_FORK", nullptr);
  const settings chosen = resolve({});
  CHECK(chosen.procs == os::available_cpus());
  CHECK(chosen.max_workers == chosen.procs + 256);
  CHECK(chosen.stack_size == std::size_t{8} << 20);
  CHECK(!chosen.steal_every_fork);
}

TEST_CASE("settings: options come before the environment, the environment before the machine") {
  const test::environment procs("FORKJOIN_PROCS", "7");
  CHECK(resolve({}).procs == 7);
  CHECK(resolve(test::with_procs(3)).procs == 3);
  CHECK(fj::runtime().procs() == 7);
  fj::options few;
  few.max_workers = 2;
  CHECK(resolve(few).max_workers == 2);
}

TEST_CASE("settings: the P in use follow the system if nothing says how many there are") {
  const test::environment procs("FORKJOIN_PROCS", nullptr), unset("FORKJOIN_FOLLOW", nullptr);
  CHECK(resolve({}).follows);
  CHECK(!resolve(test::with_procs(3)).follows);
  {
    const test::environment three("FORKJOIN_PROCS", "3");
    CHECK(!resolve({}).follows);
  }
  {
    const test::environment off("FORKJOIN_FOLLOW", "0");
    CHECK(!resolve({}).follows);
  }
  const test::environment wrong("FORKJOIN_FOLLOW", "yes");
  CHECK(contains(complaint({}), "FORKJOIN_FOLLOW is \"yes\"; set it to 0 or 1"));
}

TEST_CASE("settings: FORKJOIN_PROCS that makes no sense") {
  for (const char* bad : {"0", "-1", "abc", "1e9", " 3", "3 ", "2x", "0x2", "+2", "4097", "99999999999999999999"}) {
    CAPTURE(bad);
    const test::environment procs("FORKJOIN_PROCS", bad);
    const std::string message = complaint({});
    CHECK(contains(message, "FORKJOIN_PROCS is \"" + std::string(bad) + "\""));
    CHECK(contains(message, "from 1 to 4096"));
    CHECK(contains(message, "unset"));
    CHECK_THROWS_AS(fj::runtime(), std::invalid_argument);
    CHECK(complaint(test::with_procs(2)).empty());  // FORKJOIN_PROCS is not read then
  }
  for (const char* good : {"1", "2", "4096", "007"}) {
    const test::environment procs("FORKJOIN_PROCS", good);
    CHECK(complaint({}).empty());
  }
}

TEST_CASE("settings: options that make no sense") {
  const std::string many = complaint(test::with_procs(4097));
  CHECK(contains(many, "options::procs is 4097"));
  CHECK(contains(many, "at most 4096"));
  fj::options small;
  for (const std::size_t size : {std::size_t{1}, std::size_t{16383}, ~std::size_t{0}}) {
    small.stack_size = size;
    const std::string message = complaint(small);
    CHECK(contains(message, "options::stack_size is " + std::to_string(size)));
    CHECK(contains(message, "at least 16384"));
    CHECK_THROWS_AS(fj::runtime{small}, std::invalid_argument);
    fj::options of_go;
    of_go.go_stack_size = size;
    CHECK(contains(complaint(of_go), "options::go_stack_size is " + std::to_string(size)));
  }
  small.stack_size = 16384;
  CHECK(complaint(small).empty());
}

TEST_CASE("settings: the sizes of stacks are the options', else the environment's, else 8 MiB and 192 KiB") {
  const test::environment stack("FORKJOIN_STACK_SIZE", nullptr), go_stack("FORKJOIN_GO_STACK_SIZE", nullptr);
  CHECK(resolve({}).stack_size == 8 << 20);
  CHECK(resolve({}).go_stack_size == 192 << 10);
  const test::environment large("FORKJOIN_STACK_SIZE", "1048576"), small("FORKJOIN_GO_STACK_SIZE", "1000000");
  CHECK(resolve({}).stack_size == 1 << 20);
  CHECK(resolve({}).go_stack_size == 1'000'000);
  const settings chosen = resolve({.stack_size = 1 << 18, .go_stack_size = 1 << 17});
  CHECK(chosen.stack_size == 1 << 18);
  CHECK(chosen.go_stack_size == 1 << 17);
  for (const char* bad : {"0", "16383", "-1", "8M", " 65536", "1099511627777"}) {
    CAPTURE(bad);
    for (const char* name : {"FORKJOIN_STACK_SIZE", "FORKJOIN_GO_STACK_SIZE"}) {
      const test::environment wrong(name, bad);
      CHECK(contains(complaint({}),
                     std::string(name) + " is \"" + bad + "\"; set it to a number from 16384 to 1099511627776"));
    }
  }
}

TEST_CASE("settings: without a heavy fence, or to steal every fork, everything is public") {
  {
    const test::fences none(test::stealing::all_public);
    CHECK(resolve(test::with_procs(2)).eager);
    CHECK(!resolve(test::with_procs(2)).by_signal);
  }
  CHECK(resolve(test::with(2, test::stealing::every_fork)).eager);
  CHECK(!resolve(test::with_procs(2)).eager);
}

TEST_CASE("settings: without membarrier the heavy fence is a signal, which the options name, or the environment") {
  const test::environment membarrier("FORKJOIN_MEMBARRIER", "0"), signal("FORKJOIN_FENCE_SIGNAL", nullptr);
  const settings chosen = resolve(test::with_procs(2));
  CHECK(chosen.by_signal);
  CHECK(!chosen.eager);
  // The process has chosen its signal; runtimes that ask for another have that one.
  fj::options other = test::with_procs(2);
  other.fence_signal = SIGUSR2;
  CHECK(resolve(other).by_signal);
  struct sigaction present{};
  CHECK(sigaction(SIGUSR2, nullptr, &present) == 0);
  CHECK_UNARY(present.sa_handler == SIG_DFL);
  for (const int bad : {-1, SIGKILL, SIGSTOP, SIGSEGV, SIGTERM, SIGCHLD, 1000}) {
    CAPTURE(bad);
    other.fence_signal = bad;
    CHECK(contains(complaint(other), "options::fence_signal is " + std::to_string(bad) + "; set it to"));
  }
  for (const char* bad : {"urg", "-1", "9", "11", "1000", " 10"}) {
    CAPTURE(bad);
    const test::environment wrong("FORKJOIN_FENCE_SIGNAL", bad);
    CHECK(contains(complaint({}), std::string("FORKJOIN_FENCE_SIGNAL is \"") + bad + "\""));
  }
}

TEST_CASE("settings: every fork is stolen if the option says so, or the environment") {
  for (const bool option : {false, true})
    for (const char* variable : {static_cast<const char*>(nullptr), "", "0", "1"}) {
      CAPTURE(option);
      CAPTURE(variable);
      const test::environment steal("FORKJOIN_STEAL_EVERY_FORK", variable);
      const bool asked = option || (variable && *variable == '1');
      const settings chosen = resolve(test::with(2, option ? test::stealing::every_fork : test::stealing::by_need));
      CHECK(chosen.steal_every_fork == asked);
      if (asked) CHECK(chosen.eager);  // if only the option counts (tried), the environment variable does nothing
    }
  const test::environment steal("FORKJOIN_STEAL_EVERY_FORK", "yes");
  for (const test::stealing how : {test::stealing::by_need, test::stealing::every_fork})
    CHECK(contains(complaint(test::with(2, how)), "FORKJOIN_STEAL_EVERY_FORK is \"yes\"; set it to 0 or 1"));
}

TEST_CASE("settings: strands are ordered by thread if the option says so, or the environment") {
  fj::options wanted;
  for (const bool option : {false, true})
    for (const char* variable : {static_cast<const char*>(nullptr), "0", "1"}) {
      const test::environment order("FORKJOIN_TSAN_THREAD_ORDER", variable);
      wanted.thread_order = option;
      CHECK(resolve(wanted).thread_order == (option || (variable && *variable == '1')));
    }
}

TEST_CASE("settings: the seed of chaos is the option's, else the environment's") {
  fj::options wanted;
  for (const char* variable : {static_cast<const char*>(nullptr), "", "0", "7", "18446744073709551615"}) {
    const test::environment chaos("FORKJOIN_CHAOS", variable);
    wanted.chaos = 0;
    CHECK(resolve(wanted).chaos == (variable && *variable ? std::strtoull(variable, nullptr, 10) : 0));
    wanted.chaos = 3;
    CHECK(resolve(wanted).chaos == 3);
  }
  for (const char* variable : {"-1", "x", " 1", "1.5", "18446744073709551616"}) {
    const test::environment chaos("FORKJOIN_CHAOS", variable);
    CHECK(contains(complaint({}), "FORKJOIN_CHAOS is \"" + std::string(variable) + "\"; set it to a number from 1"));
  }
}

TEST_CASE("topology: the affinity mask counts") {
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  CHECK(os::available_cpus() >= 1);
  CHECK(os::available_cpus() <= static_cast<unsigned>(CPU_COUNT(&before)));
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    CPU_SET(cpu, &one);
    break;
  }
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  const unsigned alone = os::available_cpus();
  sched_setaffinity(0, sizeof(before), &before);
  CHECK(alone == 1);
}

// Tried without the quota, with the quota rounded down, and with the innermost group alone: each fails.
TEST_CASE("topology: the quota of the cgroup counts, the tightest up to the root, rounded up") {
  const std::filesystem::path root = std::filesystem::temp_directory_path() / ("forkjoin-" + std::to_string(getpid()));
  std::filesystem::remove_all(root);  // left by a killed process that had this number
  const auto write = [&](const char* file, const char* text) {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text << '\n';
  };
  const auto found = [&] { return os::available_cpus(root.c_str()); };
  const unsigned all = os::available_cpus("/nowhere");

  CHECK(found() == all);  // there are no such files
  write("proc/self/cgroup", "0::/outer/inner");
  CHECK(found() == all);
  write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000");
  CHECK(found() == all);
  write("sys/fs/cgroup/outer/inner/cpu.max", "100000 100000");
  CHECK(found() == 1);
  write("sys/fs/cgroup/outer/inner/cpu.max", "110000 100000");
  CHECK(found() == std::min(all, 2u));
  write("sys/fs/cgroup/outer/inner/cpu.max", "1000 100000");
  CHECK(found() == 1);
  write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000");
  write("sys/fs/cgroup/outer/cpu.max", "50000 50000");
  CHECK(found() == 1);
  write("sys/fs/cgroup/outer/cpu.max", "nonsense");
  CHECK(found() == all);

  write("proc/self/cgroup", "5:memory:/outer\n4:cpuacct,cpu:/old");
  write("sys/fs/cgroup/cpu/old/cpu.cfs_period_us", "100000");
  write("sys/fs/cgroup/cpu/old/cpu.cfs_quota_us", "-1");
  CHECK(found() == all);
  write("sys/fs/cgroup/cpu/old/cpu.cfs_quota_us", "100000");
  CHECK(found() == 1);
  CHECK(os::cpus_of_quota(root.c_str()) == 1);
  CHECK(os::cpus_of_quota("/nowhere") == ~0u);
  // A quota that cannot be read now is none at the begin of a runtime, but no reason to change what followed it.
  // (Without descriptors UndefinedBehaviorSanitizer cannot look at memory.)
  if (!test::sanitized) {
    rlimit before;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit none = before;
    none.rlim_cur = 0;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const unsigned unknown = os::cpus_of_quota(root.c_str());
    const unsigned available = os::available_cpus(root.c_str());
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(unknown == 0);
    CHECK(available == all);
  }
  std::filesystem::remove_all(root);
}

namespace {

// What the hooks of a runtime's threads saw.
struct {
  std::mutex guard;
  std::map<unsigned, std::string> begun;
  std::size_t ended = 0;
} hooked;
thread_local int hooked_as = -1;

void begins(unsigned worker) {
  std::string name;  // that top and gdb show
  std::getline(std::ifstream("/proc/thread-self/comm"), name);
  const std::lock_guard lock(hooked.guard);
  CHECK(hooked.begun.emplace(worker, name).second);
  CHECK(fj::this_proc() == -1);
  hooked_as = static_cast<int>(worker);
}

void ends(unsigned worker) {
  const std::lock_guard lock(hooked.guard);
  CHECK(hooked_as == static_cast<int>(worker));
  CHECK(fj::this_proc() == -1);
  hooked_as = -1;
  ++hooked.ended;
}

}  // namespace

// Tried without either call, and without the name.
TEST_CASE("settings: each thread that the runtime starts calls on_worker_start first, and on_worker_stop last") {
  const test::watchdog dog("worker hooks", 3);
  std::atomic<int> unknown{0};
  {
    fj::options with = test::with_procs(3);
    with.on_worker_start = begins;
    with.on_worker_stop = ends;
    fj::runtime rt(with);
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> here{0};
    rt.run([&] {
      fj::fork_each(0, 3, [&](int) {
        ++here;
        test::spin_until([&] { return here.load() == 3; });
        if (std::this_thread::get_id() != caller && hooked_as == -1) ++unknown;
      });
    });
  }
  CHECK(unknown.load() == 0);
  CHECK(hooked.begun.size() >= 2);
  CHECK(hooked.ended == hooked.begun.size());
  for (const auto& [worker, name] : hooked.begun) CHECK(name == "fj-" + std::to_string(worker));
}

namespace {

fj::runtime* entered_by_callback = nullptr;
std::atomic<int> refusals{0};

void expect_refusal(void (*call)()) {
  try {
    call();
  } catch (const std::logic_error& error) {
    refusals += std::string(error.what()).find("options::on_worker_start") != std::string::npos;
  }
}

void enters(unsigned) {
  expect_refusal([] { entered_by_callback->run([] {}); });
  expect_refusal([] { static_cast<void>(entered_by_callback->go([] {})); });
}

}  // namespace

// Tried without the refusal: with one P it hangs.
TEST_CASE("settings: on_worker_start cannot enter its own runtime, which may wait for that thread") {
  const test::watchdog dog("worker hook that enters", 1);
  fj::options with = test::with_procs(1);
  with.on_worker_start = enters;
  fj::runtime rt(with);
  entered_by_callback = &rt;
  rt.go([] {}).get();
  CHECK(refusals.load() == 2);
}
