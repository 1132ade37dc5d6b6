#include "runtime/os/topology.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <system_error>

namespace fj { inline namespace v0_2 { namespace detail { namespace os {

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

}}}}  // namespace fj::v0_2::detail::os
