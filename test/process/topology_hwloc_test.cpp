// The places of CPUs (runtime/os/topology.hpp) beside what hwloc finds: in folders that this program writes from
// hwloc's synthetic machines, and in those of real machines below the folder that it is given, as hwloc's tests have
// them (tests/hwloc/linux/*.tar.bz2, unpacked).
//
// Numbers of caches and kinds are each library's own. So what is compared is which CPUs have the same one, for nodes
// their numbers, too, and for kinds which is faster. Tried with the cache that is read first, with the words of masks
// in the other order, and with the last node that names a CPU: each is found.
#include <hwloc.h>

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "runtime/os/topology.hpp"

namespace {

namespace files = std::filesystem;
using fj::detail::os::cpu_place;

class hwloc_machine {
 public:
  explicit hwloc_machine(const std::function<void(hwloc_topology_t)>& choose) {
    hwloc_topology_init(&all_);
    hwloc_topology_set_flags(all_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc_topology_set_all_types_filter(all_, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_io_types_filter(all_, HWLOC_TYPE_FILTER_KEEP_NONE);
    choose(all_);
    loaded_ = hwloc_topology_load(all_) == 0;
  }
  ~hwloc_machine() { hwloc_topology_destroy(all_); }
  hwloc_machine(const hwloc_machine&) = delete;
  hwloc_machine& operator=(const hwloc_machine&) = delete;

  explicit operator bool() const { return loaded_; }
  hwloc_topology_t get() const { return all_; }

  std::vector<hwloc_obj_t> cpus() const {
    std::vector<hwloc_obj_t> found;
    for (hwloc_obj_t cpu = nullptr; (cpu = hwloc_get_next_obj_by_type(all_, HWLOC_OBJ_PU, cpu)) != nullptr;)
      found.push_back(cpu);
    return found;
  }

  /// nullptr: none.
  static hwloc_obj_t last_level_cache(hwloc_obj_t cpu) {
    hwloc_obj_t last = nullptr;
    for (hwloc_obj_t above = cpu->parent; above; above = above->parent)
      if (hwloc_obj_type_is_dcache(above->type)) last = above;
    return last;
  }

  /// By how fast they are. -1: not known.
  int kind(hwloc_obj_t cpu) const { return hwloc_cpukinds_get_by_cpuset(all_, cpu->cpuset, 0); }

 private:
  hwloc_topology_t all_ = nullptr;
  bool loaded_ = false;
};

/// What is right and wrong of one machine.
struct findings {
  unsigned cpus = 0, nodes = 0, caches = 0, kinds = 0;
  std::string wrong;
};

// Says for which two CPUs `ours` is the same and `theirs` is not, or the other way round, if there are any.
template <class Ours, class Theirs>
std::string differences(const std::vector<hwloc_obj_t>& cpus, const char* what, Ours ours, Theirs theirs) {
  std::map<decltype(ours(nullptr)), hwloc_obj_t> first_of_ours;
  std::map<decltype(theirs(nullptr)), hwloc_obj_t> first_of_theirs;
  for (const hwloc_obj_t cpu : cpus) {
    const hwloc_obj_t a = first_of_ours.try_emplace(ours(cpu), cpu).first->second;
    const hwloc_obj_t b = first_of_theirs.try_emplace(theirs(cpu), cpu).first->second;
    if (a == b) continue;
    return " the " + std::string(what) + " of CPU " + std::to_string(cpu->os_index) + " is that of CPU " +
           std::to_string(b->os_index) + ", not of CPU " + std::to_string(a->os_index) + ";";
  }
  return {};
}

std::string text_of(hwloc_const_bitmap_t set) {
  char* text = nullptr;
  hwloc_bitmap_list_asprintf(&text, set);
  const std::string copy = text;
  std::free(text);
  return copy;
}

// On Arm a register names the kind, which hwloc reads since version 3; before, it takes CPUs that differ a little in
// speed for two kinds. Empty: there is no such register.
std::string part_number(const files::path& root, hwloc_obj_t cpu) {
  std::string text;
  const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu->os_index);
  std::ifstream(root / folder / "regs/identification/midr_el1") >> text;
  return text.size() < 4 ? "" : text.substr(text.size() - 4, 3);
}

/// `root`: of the folder that both have read.
findings compare(const hwloc_machine& theirs, const files::path& root) {
  const std::vector<cpu_place> places = fj::detail::os::cpu_places(root.c_str());
  findings found;
  const std::vector<hwloc_obj_t> cpus = theirs.cpus();
  found.cpus = static_cast<unsigned>(cpus.size());
  for (const hwloc_obj_t cpu : cpus) {
    if (cpu->os_index < places.size()) continue;
    found.wrong += " CPU " + std::to_string(cpu->os_index) + " is missing;";
    return found;
  }
  const auto place = [&](hwloc_obj_t cpu) -> const cpu_place& { return places[cpu->os_index]; };

  found.wrong += differences(
      cpus, "node", [&](hwloc_obj_t cpu) { return place(cpu).node; },
      [](hwloc_obj_t cpu) { return text_of(cpu->nodeset); });
  for (const hwloc_obj_t cpu : cpus) {
    if (hwloc_bitmap_weight(cpu->nodeset) != 1 || hwloc_bitmap_first(cpu->nodeset) == place(cpu).node) continue;
    found.wrong += " CPU " + std::to_string(cpu->os_index) + " is of node " +
                   std::to_string(hwloc_bitmap_first(cpu->nodeset)) + ", not " + std::to_string(place(cpu).node) + ";";
    break;
  }
  found.nodes = static_cast<unsigned>(hwloc_get_nbobjs_by_type(theirs.get(), HWLOC_OBJ_NUMANODE));

  for (const hwloc_obj_t cpu : cpus) {
    found.caches += place(cpu).cache == static_cast<int>(cpu->os_index);
    if ((place(cpu).cache < 0) == !hwloc_machine::last_level_cache(cpu)) continue;
    found.wrong += " CPU " + std::to_string(cpu->os_index) + (place(cpu).cache < 0 ? " has" : " has no") + " cache;";
    break;
  }
  found.wrong += differences(
      cpus, "cache", [&](hwloc_obj_t cpu) { return place(cpu).cache; },
      [](hwloc_obj_t cpu) { return hwloc_machine::last_level_cache(cpu); });

  std::vector<hwloc_obj_t> known;
  std::map<int, int> fastest;  // of each of our kinds
  for (const hwloc_obj_t cpu : cpus) {
    const int kind = theirs.kind(cpu);
    if (kind < 0) continue;
    known.push_back(cpu);
    fastest[place(cpu).kind] = std::max(fastest[place(cpu).kind], kind);
  }
  found.wrong += differences(
      known, "kind", [&](hwloc_obj_t cpu) { return place(cpu).kind; },
      [&](hwloc_obj_t cpu) {
        const std::string part = part_number(root, cpu);
        return part.empty() ? std::to_string(theirs.kind(cpu)) : part;
      });
  int before = -1;
  for (const auto& [ours, kind] : fastest) {
    if (kind < before) found.wrong += " the kinds are in another order;";
    before = kind;
  }
  for (const hwloc_obj_t cpu : cpus) found.kinds = std::max(found.kinds, static_cast<unsigned>(place(cpu).kind) + 1);
  return found;
}

bool report(const std::string& name, const findings& found) {
  std::printf("%s: %u CPUs, %u nodes, %u last-level caches, %u kinds:%s\n", name.c_str(), found.cpus, found.nodes,
              found.caches, found.kinds, found.wrong.empty() ? " right" : found.wrong.c_str());
  return found.wrong.empty();
}

std::string mask_of(hwloc_const_bitmap_t cpus) {
  std::string mask;
  for (int word = hwloc_bitmap_last(cpus) / 32; word >= 0; --word) {
    unsigned bits = 0;
    for (int bit = 0; bit < 32; ++bit)
      bits |= static_cast<unsigned>(hwloc_bitmap_isset(cpus, static_cast<unsigned>(word * 32 + bit))) << bit;
    char text[16];
    std::snprintf(text, sizeof(text), "%08x,", bits);
    mask += text;
  }
  mask.pop_back();
  return mask;
}

void write(const files::path& file, const std::string& text) {
  files::create_directories(file.parent_path());
  std::ofstream(file) << text << '\n';
}

void write_machine(const hwloc_machine& machine, const files::path& system) {
  for (const hwloc_obj_t cpu : machine.cpus()) {
    const files::path folder = system / "cpu" / ("cpu" + std::to_string(cpu->os_index));
    write(folder / "online", "1");
    int index = 0;
    for (hwloc_obj_t above = cpu->parent; above; above = above->parent) {
      if (!hwloc_obj_type_is_cache(above->type)) continue;
      const files::path cache = folder / "cache" / ("index" + std::to_string(index++));
      write(cache / "level", std::to_string(above->attr->cache.depth));
      write(cache / "type", hwloc_obj_type_is_icache(above->type) ? "Instruction" : "Unified");
      write(cache / "shared_cpu_map", mask_of(above->cpuset));
    }
  }
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(machine.get(), HWLOC_OBJ_NUMANODE, node));)
    write(system / "node" / ("node" + std::to_string(node->os_index)) / "cpumap", mask_of(node->cpuset));
}

bool test_synthetic(const files::path& root) {
  bool right = true;
  for (const char* text :
       {"pu:1", "pu:3", "core:4 pu:2", "node:2 core:4 pu:1", "pack:2 l3:1 core:8 pu:2",
        "node:2 pack:1 l3:4 l2:4 core:2 pu:2", "pack:2 node:4 l3:1 core:12 pu:1", "node:4 l2:8 l1:1 core:2 pu:1",
        "pack:4 l4:1 node:2 l3:2 l2:2 core:1 pu:2", "node:8 l3:4 core:5 pu:2", "node:3 core:5 l1:1 l1i:1 pu:3",
        "node:2 pack:2 l3:1 pu:16(indexes=node:pack)",
        "node:2(indexes=3,1) l3:2 pu:4(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)"}) {
    const hwloc_machine machine([text](hwloc_topology_t all) { hwloc_topology_set_synthetic(all, text); });
    if (!machine) {
      std::printf("%s: not understood by hwloc\n", text);
      return false;
    }
    write_machine(machine, root / "sys/devices/system");
    right = report(text, compare(machine, root)) && right;
    files::remove_all(root);
  }
  return right;
}

bool is_root_of_machine(const files::path& folder) { return files::is_directory(folder / "sys/devices/system/cpu"); }

// Files of these contradict one another, so nothing is right: two nodes name the same CPUs, or a CPU names others for
// its cache than those that name it.
constexpr const char* contradictory[] = {"40intel64-4n10c+pci-conflicts", "fakeheterocpunuma"};

// hwloc takes another root from its environment alone.
bool test_real(const files::path& trees) {
  setenv("HWLOC_COMPONENTS", "linux,stop", 1);
  setenv("HWLOC_HIDE_ERRORS", "2", 1);
  unsigned right = 0, all = 0;
  std::vector<files::path> roots;
  for (const auto& entry : files::recursive_directory_iterator(trees)) {
    if (!entry.is_directory() || !is_root_of_machine(entry.path())) continue;
    roots.push_back(entry.path());
  }
  std::sort(roots.begin(), roots.end());
  for (const files::path& root : roots) {
    setenv("HWLOC_FSROOT", root.c_str(), 1);
    const hwloc_machine machine([](hwloc_topology_t) {});
    if (!machine) {
      std::printf("%s: not understood by hwloc\n", root.c_str());
      continue;
    }
    const std::string name = root.filename().string();
    const bool is_right = report(name, compare(machine, root));
    if (std::find(std::begin(contradictory), std::end(contradictory), name) != std::end(contradictory)) continue;
    ++all;
    right += is_right;
  }
  std::printf("%u of %u machines right, of %zu\n", right, all, roots.size());
  return all != 0 && right == all;
}

}  // namespace

int main(int argc, char** argv) {
  const files::path root = files::temp_directory_path() / ("forkjoin-hwloc-" + std::to_string(getpid()));
  files::remove_all(root);
  const bool right = test_synthetic(root);
  files::remove_all(root);
  return right && (argc < 2 || test_real(argv[1])) ? 0 : 1;
}
