#include "runtime/os/topology.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

namespace {

// Closed in a program that another thread executes meanwhile, which a std::ifstream would not be. Empty if there is no
// such file for this process. Throws std::system_error if there may be one.
std::string text_of(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    for (const int none : {ENOENT, ENOTDIR, EACCES, EPERM, ELOOP})
      if (errno == none) return {};
    throw std::system_error(errno, std::generic_category());
  }
  std::string text;
  char part[4096];
  ssize_t size = 0;
  while ((size = read(file, part, sizeof(part))) > 0) text.append(part, static_cast<std::size_t>(size));
  close(file);
  return text;
}

constexpr double no_limit = HUGE_VAL;

// cgroup v2: "<quota> <period>" or "max <period>", in microseconds.
double quota_v2(const std::string& folder) {
  std::istringstream file(text_of(folder + "/cpu.max"));
  double quota = 0, period = 0;
  return file >> quota >> period && period > 0 ? quota / period : no_limit;
}

double quota_v1(const std::string& folder) {
  double quota = 0, period = 0;
  std::istringstream(text_of(folder + "/cpu.cfs_quota_us")) >> quota;
  if (std::istringstream(text_of(folder + "/cpu.cfs_period_us")) >> period; quota > 0 && period > 0)
    return quota / period;
  return no_limit;
}

// The tightest limit of `group` and the groups above it.
double tightest(double (*quota)(const std::string&), const std::string& mount, std::string group) {
  double limit = quota(mount);
  while (group.size() > 1) {
    limit = std::min(limit, quota(mount + group));
    group.resize(group.rfind('/'));
  }
  return limit;
}

// /proc/self/cgroup has lines "<id>:<controllers>:<group>"; v2 has id 0 and no controllers.
double cgroup_quota(const std::string& root) {
  double limit = no_limit;
  std::istringstream groups(text_of(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    std::istringstream fields(line);
    std::string id, controllers, group;
    std::getline(fields, id, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, group);
    if (controllers.empty()) limit = std::min(limit, tightest(quota_v2, root + "/sys/fs/cgroup", group));
    if (("," + controllers + ",").find(",cpu,") != std::string::npos)
      limit = std::min(limit, tightest(quota_v1, root + "/sys/fs/cgroup/cpu", group));
  }
  return limit;
}

using numbers = std::vector<unsigned>;

constexpr unsigned most_cpus = 1 << 16;

// 0 if the text is no number.
unsigned number_of(std::string_view text) {
  unsigned number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The N of the entries `prefix`N of a folder, ascending.
numbers numbered(const std::string& folder, std::string_view prefix) {
  numbers found;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), &closedir);
  if (!entries) return found;
  while (const dirent* const entry = readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix)) continue;
    const std::string_view digits = name.substr(prefix.size());
    if (digits.empty() || digits.size() > 5 || digits.find_first_not_of("0123456789") != digits.npos) continue;
    if (const unsigned number = number_of(digits); number < most_cpus) found.push_back(number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

// "00000001,0000ffff" is CPUs 0 to 15 and 32: words of 32 bits, the highest CPUs first. Empty if it is anything else.
numbers cpus_of_mask(const std::string& text) {
  numbers cpus;
  unsigned bits = 0;
  for (std::size_t at = text.find_last_not_of(std::string_view(" \n\0", 3)) + 1; at > 0; --at) {
    const char c = text[at - 1];
    if (c == ',' && bits % 32 == 0) continue;
    unsigned digit = 0;
    if (std::from_chars(&c, &c + 1, digit, 16).ec != std::errc() || bits >= most_cpus) return {};
    for (unsigned bit = 0; bit < 4; ++bit)
      if (digit >> bit & 1) cpus.push_back(bits + bit);
    bits += 4;
  }
  return cpus;
}

// "0-3,8" is CPUs 0 to 3 and 8. Empty if it is anything else.
numbers cpus_of_list(const std::string& text) {
  numbers cpus;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream bounds(part);
    unsigned first = 0, last = 0;
    char dash = '-';
    if (!(bounds >> first)) return {};
    if (!(bounds >> dash >> last)) last = first;
    if (dash != '-' || first > last || last >= most_cpus) return {};
    for (unsigned cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

// What a machine says of its CPUs, from the folder sys/devices.
class reader_of_places {
 public:
  explicit reader_of_places(const std::string& devices)
      : devices_(devices), system_(devices + "/system"), cpus_(numbered(system_ + "/cpu", "cpu")) {
    if (!cpus_.empty()) places_.resize(cpus_.back() + 1);
  }

  std::vector<cpu_place> read() {
    find_nodes();
    for (const unsigned cpu : cpus_) find_cache(cpu);
    find_kinds();
    return std::move(places_);
  }

 private:
  std::string text_of_cpu(unsigned cpu, const std::string& file) const {
    return text_of(system_ + "/cpu/cpu" + std::to_string(cpu) + "/" + file);
  }

  // Of nodes that name the same CPU, as faulty firmware has them, the lowest counts.
  void find_nodes() {
    const numbers nodes = numbered(system_ + "/node", "node");
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
      for (const unsigned cpu : cpus_of_mask(text_of(system_ + "/node/node" + std::to_string(*node) + "/cpumap")))
        if (cpu < places_.size()) places_[cpu].node = static_cast<int>(*node);
  }

  // The last-level cache is that of the highest level which does not hold instructions alone. What names other CPUs
  // alone is no cache of this one.
  void find_cache(unsigned cpu) {
    unsigned highest = 0;
    for (const unsigned index : numbered(system_ + "/cpu/cpu" + std::to_string(cpu) + "/cache", "index")) {
      const std::string cache = "cache/index" + std::to_string(index) + "/";
      const unsigned level = number_of(text_of_cpu(cpu, cache + "level"));
      if (level <= highest || text_of_cpu(cpu, cache + "type").starts_with("Instruction")) continue;
      const numbers sharing = cpus_of_mask(text_of_cpu(cpu, cache + "shared_cpu_map"));
      if (!std::binary_search(sharing.begin(), sharing.end(), cpu)) continue;
      highest = level;
      places_[cpu].cache = static_cast<int>(sharing.front());
    }
  }

  // Intel's drivers of counters name the CPUs of each kind; elsewhere CPUs have a capacity, or different frequencies.
  void find_kinds() {
    numbers speeds(places_.size());
    unsigned speed = 0;
    for (const char* const driver : {"cpu_lowpower", "cpu_atom", "cpu_core"}) {
      ++speed;
      for (const unsigned cpu : cpus_of_list(text_of(devices_ + "/" + driver + "/cpus")))
        if (cpu < speeds.size()) speeds[cpu] = speed;
    }
    for (const char* const file : {"cpu_capacity", "cpufreq/base_frequency"}) {
      if (std::any_of(speeds.begin(), speeds.end(), [](unsigned known) { return known != 0; })) break;
      for (const unsigned cpu : cpus_) speeds[cpu] = number_of(text_of_cpu(cpu, file));
    }
    rank(speeds);
  }

  // CPUs of one kind may differ by some per cent, as the best of them may run faster.
  void rank(const numbers& speeds) {
    numbers sorted = speeds;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(sorted.begin(), std::upper_bound(sorted.begin(), sorted.end(), 0u));  // not known
    numbers slowest;                                                                   // of each kind
    for (const unsigned speed : sorted)
      if (slowest.empty() || speed > slowest.back() * 1.1) slowest.push_back(speed);
    for (std::size_t cpu = 0; cpu < speeds.size(); ++cpu) {
      const auto above = std::upper_bound(slowest.begin(), slowest.end(), speeds[cpu]);
      places_[cpu].kind = std::max(static_cast<int>(above - slowest.begin()) - 1, 0);
    }
  }

  const std::string devices_;
  const std::string system_;
  const numbers cpus_;
  std::vector<cpu_place> places_;
};

}  // namespace

unsigned cpus_of_thread() noexcept {
  // A mask larger than cpu_set_t exists only on machines with more than 1,024 CPUs: the kernel returns EINVAL
  // there.
  for (int cpus = CPU_SETSIZE; cpus <= (1 << 16); cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (!set) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const bool answered = sched_getaffinity(0, bytes, set) == 0;
    const int count = answered ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (answered) return static_cast<unsigned>(std::max(count, 1));
  }
  return 0;
}

unsigned cpus_of_quota(const char* root) noexcept {
  try {
    constexpr unsigned most = std::numeric_limits<unsigned>::max();
    const double quota = std::ceil(cgroup_quota(root));
    return quota >= most ? most : static_cast<unsigned>(std::max(quota, 1.0));
  } catch (...) {
    return 0;
  }
}

unsigned available_cpus(const char* root) noexcept {
  const unsigned cpus = std::max(cpus_of_thread(), 1u), quota = cpus_of_quota(root);
  return quota == 0 ? cpus : std::min(cpus, quota);  // 0: no limit known
}

int this_cpu() noexcept { return sched_getcpu(); }

std::vector<cpu_place> cpu_places(const char* root) noexcept {
  try {
    return reader_of_places(root + std::string("/sys/devices")).read();
  } catch (...) {
    return {};
  }
}

}}}}  // namespace fj::v0_4::detail::os
