#include "runtime/races/locks.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "runtime/races/strands.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

namespace {

void set_held(lock_set all) noexcept {
  now.held = all;
  look_out();
  forget_usual();
}

/// A lock: twice its number, plus 1 if it is held with others. Sorted.
using locks = std::vector<std::uintptr_t>;
/// What atomic accesses hold, which is no lock of the program's.
constexpr std::uintptr_t atomic_lock = 0;

struct all_sets {
  std::vector<locks> by_number{1};
  std::map<locks, lock_set> numbers{{{}, 0}};
  locks now;
  std::map<std::uintptr_t, std::uintptr_t> by_address;  // the number of the lock that lies there, from 1 on
  std::uintptr_t last = 0;

  lock_set number_of(const locks& all) {
    const auto [at, is_new] = numbers.try_emplace(all, static_cast<lock_set>(by_number.size()));
    if (is_new) by_number.push_back(all);
    return at->second;
  }

  void changed() { set_held(number_of(now)); }
};

// Never destroyed: the destructors of the program are watched, too.
all_sets& sets() noexcept {
  static all_sets* all = nullptr;
  if (!all) all = new all_sets;
  return *all;
}

struct all_lists {
  std::vector<access_list> lists{1};
  std::vector<std::uint32_t> free;
};

all_lists& lists() noexcept {
  static all_lists* all = nullptr;
  if (!all) all = new all_lists;
  return *all;
}

}  // namespace

void acquire(const void* lock, bool shared) {
  some_locks = true;
  locks& now = sets().now;
  const auto [at, is_new] = sets().by_address.try_emplace(reinterpret_cast<std::uintptr_t>(lock), 0);
  if (is_new) at->second = ++sets().last;
  const std::uintptr_t one = 2 * at->second + (shared ? 1 : 0);
  now.insert(std::upper_bound(now.begin(), now.end(), one), one);
  sets().changed();
}

void release(const void* lock) {
  locks& now = sets().now;
  const auto known = sets().by_address.find(reinterpret_cast<std::uintptr_t>(lock));
  if (known == sets().by_address.end()) return;
  const std::uintptr_t one = 2 * known->second;
  const auto at = std::lower_bound(now.begin(), now.end(), one);
  if (at == now.end() || *at > one + 1) return;
  now.erase(at);
  sets().changed();
}

void forget_locks(std::uintptr_t begin, std::uintptr_t end) {
  auto& all = sets().by_address;
  all.erase(all.lower_bound(begin), all.lower_bound(end));
}

void hold(lock_set all) {
  sets().now = sets().by_number[all];
  set_held(all);
}

lock_set and_atomic(lock_set all) {
  static lock_set from = 0, with = 0;  // as most often: the same as before
  if (with == 0 || from != all) {
    locks those = sets().by_number[all];
    those.insert(those.begin(), atomic_lock);
    from = all;
    with = sets().number_of(those);
  }
  return with;
}

bool is_atomic(lock_set under) noexcept { return under != 0 && sets().by_number[under].front() == atomic_lock; }

bool has_locks(lock_set under) noexcept { return under != 0 && sets().by_number[under].back() != atomic_lock; }

bool exclude(lock_set a, lock_set b) noexcept {
  if (a == 0 || b == 0) return false;
  for (const std::uintptr_t x : sets().by_number[a]) {
    for (const std::uintptr_t y : sets().by_number[b])
      if ((x | 1) == (y | 1) && !(x & y & 1)) return true;
  }
  return false;
}

bool is_subset(lock_set a, lock_set b) noexcept {
  if (a == 0 || a == b) return true;
  if (b == 0) return false;
  return std::ranges::includes(sets().by_number[b], sets().by_number[a]);
}

std::uint32_t new_list() {
  all_lists& all = lists();
  if (!all.free.empty()) {
    const std::uint32_t number = all.free.back();
    all.free.pop_back();
    return number;
  }
  all.lists.emplace_back();
  return static_cast<std::uint32_t>(all.lists.size() - 1);
}

access_list& list(std::uint32_t number) noexcept { return lists().lists[number]; }

void drop_list(std::uint32_t number) noexcept {
  lists().lists[number].clear();
  lists().free.push_back(number);
}

}}}}  // namespace fj::v0_4::detail::races
