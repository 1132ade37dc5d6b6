// Loads plugins that do not see each other's names, and runs them one after the other, and then at once: see
// plugins_test.py.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#ifdef LINKED_WITH_BOTH
extern "C" int run_one();
extern "C" int run_two();
#endif

int main([[maybe_unused]] int count, [[maybe_unused]] char** names) {
  using entry = int (*)();
  std::vector<entry> entries;
#ifdef LINKED_WITH_BOTH
  entries = {run_one, run_two};
#else
  for (int i = 1; i < count; ++i) {
    const std::string name = i == 2 ? "two" : "one";
    void* const plugin = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) return std::printf("%s\n", dlerror()), 1;
    entries.push_back(reinterpret_cast<entry>(dlsym(plugin, ("run_" + name).c_str())));
  }
#endif
  for (const entry run : entries)
    if (!run()) return 1;
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { right += entries[static_cast<std::size_t>(i) % entries.size()](); });
  for (auto& thread : threads) thread.join();
  return right == 4 ? 0 : 1;
}
