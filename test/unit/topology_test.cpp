// Which CPUs are near each other, from folders that the test writes as Linux has them in /sys, and which Ps thieves
// look at first by that.
#include "runtime/os/topology.hpp"

#include <doctest/doctest.h>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "forkjoin/forkjoin.hpp"
#include "runtime/base/steal_rule.hpp"
#include "runtime/environment.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/sched/near_first.hpp"
#include "runtime/sched/scheduler.hpp"
#include "test/forks.hpp"
#include "test/support.hpp"

namespace os = fj::detail::os;

namespace {

/// A folder for /sys and what is below it.
class machine {
 public:
  machine() { std::filesystem::remove_all(root_); }  // left by a killed process that had this number
  ~machine() { std::filesystem::remove_all(root_); }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ / "sys/devices" / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  void write_cpu(int cpu, const std::string& file, const std::string& text) {
    write("system/cpu/cpu" + std::to_string(cpu) + "/" + file, text);
  }
  void write_cache(int cpu, int index, const std::string& level, const std::string& type, const std::string& cpus) {
    const std::string folder = "cache/index" + std::to_string(index) + "/";
    write_cpu(cpu, folder + "level", level);
    write_cpu(cpu, folder + "type", type);
    write_cpu(cpu, folder + "shared_cpu_map", cpus);
  }

  std::vector<os::cpu_place> places() const { return os::cpu_places(root_.c_str()); }
  const char* root() const { return root_.c_str(); }

  using values = std::vector<int>;
  values nodes() const { return each(&os::cpu_place::node); }
  values caches() const { return each(&os::cpu_place::cache); }
  values kinds() const { return each(&os::cpu_place::kind); }

 private:
  values each(int os::cpu_place::* part) const {
    values all;
    for (const os::cpu_place& place : places()) all.push_back(place.*part);
    return all;
  }

  const std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("forkjoin-cpus-" + std::to_string(getpid()));
};

using values = machine::values;

}  // namespace

TEST_CASE("cpu_places: nothing is known of a machine that says nothing") {
  CHECK(os::cpu_places("/nowhere").empty());
  machine silent;
  CHECK(silent.places().empty());
  silent.write("system/cpu/online", "0-1");
  silent.write("system/cpu/cpufreq/boost", "1");
  silent.write("system/cpu/cpu0x/online", "1");
  CHECK(silent.places().empty());
  for (const int cpu : {0, 1}) silent.write_cpu(cpu, "online", "1");
  CHECK(silent.nodes() == values{0, 0});
  CHECK(silent.caches() == values{-1, -1});
  CHECK(silent.kinds() == values{0, 0});
}

TEST_CASE("cpu_places: of this machine, at least the CPU that the test runs on has a place") {
  if (!std::filesystem::exists("/sys/devices/system/cpu")) {
    MESSAGE("skipped: no sysfs, as in a bare chroot");
    return;
  }
  const auto places = os::cpu_places();
  CHECK(places.size() >= os::cpus_of_thread());
}

// Tried with the words in the other order, and with what follows the end of the text read, too: each fails.
TEST_CASE("cpu_places: nodes, with numbers that are not dense, and CPUs beyond the first 32") {
  machine two;
  for (int cpu = 0; cpu < 40; ++cpu) two.write_cpu(cpu, "online", "1");
  two.write("system/node/node1/cpumap", "00,000fffff");
  two.write("system/node/node4/cpumap", "ff,fff00000");
  two.write("system/node/node7/cpumap", "00,00000000");  // memory alone
  values wanted(40, 4);
  for (int cpu = 0; cpu < 20; ++cpu) wanted[static_cast<std::size_t>(cpu)] = 1;
  CHECK(two.nodes() == wanted);

  two.write("system/node/node4/cpumap", std::string("ff,fff00000\n\0", 13));
  CHECK(two.nodes() == wanted);

  // A file that makes no sense is as one that is not there.
  for (const char* text : {"", "x", "ff,fff0000", "ff ffff0000", "-1", "0xff"}) {
    two.write("system/node/node4/cpumap", text);
    CHECK(two.nodes()[0] == 1);
    CHECK(two.nodes()[39] == 0);
  }
  two.write("system/node/node4/cpumap", std::string(1 << 16, 'f'));  // more than there can be
  CHECK(two.nodes()[39] == 0);
  two.write("system/node/node4/cpumap", "ff,ffffffff");  // names all, as some firmware does
  CHECK(two.nodes()[0] == 1);
  CHECK(two.nodes()[39] == 4);
}

// Tried with the first cache that is read, and with caches of instructions or of other CPUs: each fails.
TEST_CASE("cpu_places: the last-level cache is that of the highest level, and known by its lowest CPU") {
  machine four;
  for (const int cpu : {0, 1, 2, 3}) {
    four.write_cache(cpu, 0, "1", "Data", std::string(1, "1248"[cpu]));
    four.write_cache(cpu, 1, "3", "Unified", cpu % 2 == 0 ? "5" : "a");
    four.write_cache(cpu, 2, "2", "Unified", cpu < 2 ? "3" : "c");
    four.write_cache(cpu, 3, "4", "Instruction", "f");
  }
  CHECK(four.caches() == values{0, 1, 0, 1});

  // CPU 1 says that it has none, and CPU 3 that they share one.
  for (int index = 0; index < 4; ++index)
    four.write_cpu(1, "cache/index" + std::to_string(index) + "/level", "nonsense");
  CHECK(four.caches() == values{0, -1, 0, 1});
  // What names other CPUs alone, or none, is no cache of this CPU. Then the one below counts.
  four.write_cache(0, 1, "3", "Unified", "1");
  for (const char* text : {"0", "1", "nonsense"}) {
    for (const int cpu : {2, 3}) four.write_cache(cpu, 1, "3", "Unified", text);
    CHECK(four.caches() == values{0, -1, 2, 2});
  }
  four.write_cache(2, 1, "nonsense", "Unified", "f");
  CHECK(four.caches() == values{0, -1, 2, 2});
  four.write_cache(0, 7, "5", "Unified", "f");  // with a gap in the numbers
  CHECK(four.caches() == values{0, -1, 2, 2});
  four.write_cache(2, 7, "5", "Unified", "f");
  CHECK(four.caches() == values{0, -1, 0, 2});
}

TEST_CASE("cpu_places: a CPU that is off has no place of its own, and no other shares with it") {
  machine three;
  for (const int cpu : {0, 2}) three.write_cache(cpu, 0, "3", "Unified", "5");
  three.write_cpu(1, "online", "0");
  CHECK(three.caches() == values{0, -1, 0});
  machine sparse;
  for (const int cpu : {3, 5}) sparse.write_cache(cpu, 0, "3", "Unified", "28");
  CHECK(sparse.caches() == values{-1, -1, -1, 3, -1, 3});
}

// Tried without a tolerance: the CPUs with 990 and 1024 are then of two kinds.
TEST_CASE("cpu_places: kinds, the slowest first") {
  machine six;
  const auto give = [&](const char* file, std::vector<const char*> texts) {
    for (int cpu = 0; cpu < 6; ++cpu) six.write_cpu(cpu, file, texts[static_cast<std::size_t>(cpu)]);
  };
  give("cpufreq/base_frequency", {"1900000", "1900000", "1400000", "1400000", "1900000", "1400000"});
  CHECK(six.kinds() == values{1, 1, 0, 0, 1, 0});
  give("cpu_capacity", {"1024", "990", "260", "640", "650", "260"});
  CHECK(six.kinds() == values{2, 2, 0, 1, 1, 0});
  six.write_cpu(0, "cpu_capacity", "nonsense");
  CHECK(six.kinds() == values{0, 2, 0, 1, 1, 0});
  six.write("cpu_core/cpus", "0-1,4");
  six.write("cpu_atom/cpus", "2-3,5");
  CHECK(six.kinds() == values{1, 1, 0, 0, 1, 0});
  six.write("cpu_lowpower/cpus", "5");
  six.write("cpu_atom/cpus", "2-3");
  CHECK(six.kinds() == values{2, 2, 1, 1, 2, 0});
  for (const char* text : {"3-2", "a", "0-99999999", "0:1"}) {
    for (const char* driver : {"cpu_core", "cpu_atom", "cpu_lowpower"}) six.write(driver + std::string("/cpus"), text);
    CHECK(six.kinds() == values{0, 2, 0, 1, 1, 0});  // by the capacity
  }
}

namespace {

/// The test runs on one CPU while it lives.
class one_cpu {
 public:
  one_cpu() {
    REQUIRE(sched_getaffinity(0, sizeof(before_), &before_) == 0);
    while (!CPU_ISSET(number, &before_)) ++number;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(number, &one);
    REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  }
  ~one_cpu() { sched_setaffinity(0, sizeof(before_), &before_); }
  one_cpu(const one_cpu&) = delete;
  one_cpu& operator=(const one_cpu&) = delete;

  int number = 0;

 private:
  cpu_set_t before_;
};

std::string mask_of(std::initializer_list<int> cpus) {
  std::string mask;
  for (int word = std::max(cpus) / 32; word >= 0; --word) {
    unsigned bits = 0;
    for (const int cpu : cpus) bits |= cpu / 32 == word ? 1u << cpu % 32 : 0;
    char text[16];
    std::snprintf(text, sizeof(text), mask.empty() ? "%08x" : ",%08x", bits);
    mask += text;
  }
  return mask;
}

/// CPUs `first` and the next share a cache, the third is of the same node, and the fourth of another.
void write_four(machine& to, int first) {
  for (const int cpu : {first, first + 1}) to.write_cache(cpu, 0, "3", "Unified", mask_of({first, first + 1}));
  for (const int cpu : {first + 2, first + 3}) to.write_cache(cpu, 0, "3", "Unified", mask_of({cpu}));
  to.write("system/node/node1/cpumap", mask_of({first + 3}));
}

}  // namespace

// Tried with the passes in the other order, without the P whose place is not known, and without the end of a round when
// something is found: each fails.
TEST_CASE(
    "near_first: a round goes to the same cache, then to the same node, then to the others, in random order each") {
  const one_cpu here;
  machine four;
  write_four(four, here.number);
  const test::environment on("FORKJOIN_TOPOLOGY", four.root());
  fj::runtime rt({.procs = 8});
  rt.run([&] {
    auto& m = *fj::detail::current_worker();
    auto& all = m.sched().all();
    CHECK(all.looks().needs_places());
    CHECK(m.proc->cpu == here.number);
    constexpr int none = 1000;
    const int places[] = {0, 3, 1, none, 2, 0, 3, 2};  // of Ps, from the CPU here on
    const int away[] = {0, 2, 0, 2, 1, 0, 2, 1};
    for (unsigned p = 0; p < 8; ++p) all[p].cpu = places[p] == none ? -1 : here.number + places[p];
    std::set<std::vector<unsigned>> orders;
    for (int round = 0; round < 200; ++round) {
      std::vector<unsigned> visited;
      fj::detail::steal_rule::each_victim(m, [&](fj::detail::processor& p, fj::detail::deque_thief&) {
        visited.push_back(p.index);
        return true;
      });
      orders.insert(visited);
      CHECK(std::is_sorted(visited.begin(), visited.end(), [&](unsigned a, unsigned b) { return away[a] < away[b]; }));
      std::sort(visited.begin(), visited.end());
      CHECK(visited == std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7});
    }
    CHECK(orders.size() > 8);

    unsigned looks = 0;
    fj::detail::steal_rule::each_victim(m,
                                        [&](fj::detail::processor&, fj::detail::deque_thief&) { return ++looks < 4; });
    CHECK(looks == 4);
    unsigned begun_with = 0;  // by a rule that names one P, such as fj::leapfrog's
    all.for_each(3, 1, [&](fj::detail::processor& p, fj::detail::deque_thief&) {
      begun_with = p.index;
      return false;
    });
    CHECK(begun_with == 3);
  });
}

TEST_CASE("near_first: a machine whose CPUs are all equally near has one order") {
  using fj::detail::near_first;
  CHECK(!near_first().needs_places());
  CHECK(!near_first(std::vector<os::cpu_place>()).needs_places());
  const os::cpu_place a{.node = 0, .cache = 0, .kind = 0}, b{.node = 0, .cache = 2, .kind = 1};
  CHECK(!near_first({a, a, a}).needs_places());
  CHECK(!near_first(std::vector<os::cpu_place>(4)).needs_places());  // nothing is known
  CHECK(near_first({a, b}).needs_places());
  CHECK(near_first(std::vector<os::cpu_place>{{.node = 0}, {.node = 1}}).needs_places());
  CHECK(near_first({a, b}).begin_round().passes() == (os::this_cpu() < 2 ? 3 : 1));
}

TEST_CASE("near_first: programs compute the same, and each P that ran a strand has a place") {
  machine four;
  for (const int first : {0, 4}) write_four(four, first);
  for (const char* const value : {static_cast<const char*>(nullptr), "0", "1", four.root()}) {
    const test::environment setting("FORKJOIN_TOPOLOGY", value);
    test::for_each_runtime("near_first", [&](fj::runtime& rt, unsigned, test::stealing) {
      CHECK(rt.run([] { return test::fib(fj::continuations(), 18); }) == 2584);
      rt.run([&] {
        auto& m = *fj::detail::current_worker();
        if (!value || *value == '0') CHECK(m.proc->cpu == -1);
        if (value && *value == '/') CHECK(m.proc->cpu >= 0);
      });
    });
  }
}

TEST_CASE("FORKJOIN_TOPOLOGY: 0, 1, or a folder") {
  const auto topology = [](const char* value) {
    const test::environment setting("FORKJOIN_TOPOLOGY", value);
    return fj::detail::resolve({}).topology;
  };
  CHECK(topology(nullptr) == "");
  CHECK(topology("") == "");
  CHECK(topology("0") == "");
  CHECK(topology("1") == "/");
  CHECK(topology("/some/machine") == "/some/machine");
  for (const char* value : {"2", "yes", "some/machine"})
    CHECK_THROWS_WITH_AS(
        topology(value),
        doctest::Contains(("FORKJOIN_TOPOLOGY is \"" + std::string(value) + "\"; set it to 0").c_str()),
        std::invalid_argument);
}
