// Which CPUs are near each other, from folders that the test writes as Linux has them in /sys.
#include "runtime/os/topology.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

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
