#include "runtime/profile/earlier_runs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "forkjoin/abi/profile.hpp"
#include "runtime/os/variable.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

namespace {

constexpr std::uint64_t magic = 0x33'66'6f'72'70'6a'66;  // "fjprof3"
constexpr std::size_t most_lengths = std::size_t{1} << 26;

struct surprise_of_run {
  std::uint64_t from, to;
  double ticks;
};

struct of_earlier_runs {
  std::uint64_t runs = 0;
  knowledge all;
  // Of the strands that are timed, in their order: the least length, in ticks, and a part of the type's key.
  std::vector<float> timed;
  std::vector<std::uint8_t> types;
  std::vector<surprise_of_run> surprises;
};

of_earlier_runs& known() {
  static of_earlier_runs& one = *new of_earlier_runs;
  return one;
}

bool earlier = false;
bool repeats = true;
std::size_t at = 0;  // of the next strand that is timed
std::vector<surprise_of_run>& surprises_again() {
  static std::vector<surprise_of_run>& all = *new std::vector<surprise_of_run>;
  return all;
}

template <class T>
bool read(std::FILE* file, std::vector<T>& to) {
  std::uint64_t n = 0;
  if (std::fread(&n, sizeof n, 1, file) != 1 || n > most_lengths) return false;
  // A damaged file may say more than it has.
  const long here = std::ftell(file);
  if (here < 0 || std::fseek(file, 0, SEEK_END) != 0) return false;
  const long end = std::ftell(file);
  if (end < here || static_cast<std::uint64_t>(end - here) / sizeof(T) < n || std::fseek(file, here, SEEK_SET) != 0)
    return false;
  to.resize(n);
  return std::fread(to.data(), sizeof(T), n, file) == n;
}

template <class T>
void write(std::FILE* file, const std::vector<T>& from) {
  const std::uint64_t n = from.size();
  std::fwrite(&n, sizeof n, 1, file);
  std::fwrite(from.data(), sizeof(T), n, file);
}

template <class T>
const T* find(const std::vector<T>& in, lasting_key key) noexcept {
  const auto found = std::ranges::find(in, key, &T::key);
  return found == in.end() ? nullptr : &*found;
}

const char* path() noexcept { return os::variable("FORKJOIN_PROFILE_RUNS"); }

}  // namespace

lasting_key key_of(const void* place) noexcept {
  return reinterpret_cast<std::uintptr_t>(place) - reinterpret_cast<std::uintptr_t>(&link_with_forkjoin_profile);
}

lasting_key key_of(lasting_key a, lasting_key b) noexcept {
  const lasting_key mixed = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15u + b;
  return mixed ^ mixed >> 31;
}

bool has_earlier_runs() noexcept { return earlier; }
unsigned number_of_run() noexcept { return static_cast<unsigned>(known().runs); }
bool repeats_earlier_runs() noexcept { return repeats; }
const known_site* find_known_site(lasting_key key) noexcept { return find(known().all.sites, key); }
const known_kind* find_known_kind(lasting_key key) noexcept { return find(known().all.kinds, key); }
const known_type* find_known_type(lasting_key key) noexcept { return find(known().all.types, key); }

double length_of(const known_type& type) noexcept {
  auto lengths = type.lengths;
  const std::size_t n = std::min<std::size_t>(type.runs, lengths.size());
  if (n == 0) return 0;
  const auto end = lengths.begin() + static_cast<std::ptrdiff_t>(n);
  std::sort(lengths.begin(), end);
  return lengths[type.are == lengths_are::alike ? 0 : (n - 1) / 2];
}

void add_length(known_type& type, double ticks) noexcept {
  type.lengths[type.runs++ % type.lengths.size()] = static_cast<float>(ticks);
}

double least_of_runs(lasting_key type, double length) noexcept {
  if (!earlier || !repeats || at == most_lengths) return length;
  of_earlier_runs& k = known();
  const auto part_of_key = static_cast<std::uint8_t>(type);
  if (k.runs == 1) {  // the first run after the one that learned
    k.timed.push_back(static_cast<float>(length));
    k.types.push_back(part_of_key);
  } else if (at == k.timed.size() || k.types[at] != part_of_key) {
    repeats = false;
    return length;
  } else {
    length = k.timed[at] = std::min(k.timed[at], static_cast<float>(length));
  }
  ++at;
  return length;
}

double least_surprise(std::uint64_t from, std::uint64_t to, double ticks) noexcept {
  if (earlier) {
    const auto& all = known().surprises;
    auto found = std::ranges::lower_bound(all, from, {}, &surprise_of_run::to);
    // The same strand would take about as long.
    while (found != all.end() && found->from <= to && (ticks > 2 * found->ticks || found->ticks > 2 * ticks)) ++found;
    if (found == all.end() || found->from > to) return 0;
    ticks = std::min(ticks, found->ticks);
  }
  surprises_again().push_back({from, to, ticks});
  return ticks;
}

void load_earlier_runs() noexcept {
  surprises_again().clear();  // of forks before the program's
  std::FILE* const file = path() ? std::fopen(path(), "rbe") : nullptr;
  if (!file) return;
  of_earlier_runs& k = known();
  std::uint64_t head[3] = {};
  earlier = std::fread(head, sizeof head, 1, file) == 1 && head[0] == magic && read(file, k.all.sites) &&
            read(file, k.all.kinds) && read(file, k.all.types) && read(file, k.timed) && read(file, k.types) &&
            read(file, k.surprises);
  std::fclose(file);
  k.runs = head[1];
  k.all.strands = head[2];
  if (!earlier) k = {};
  if (k.runs == 1) {  // address space, so that no strand waits for a copy
    k.timed.reserve(most_lengths);
    k.types.reserve(most_lengths);
  }
}

void save_run(const knowledge& now) noexcept {
  if (!path()) return;
  std::FILE* const file = std::fopen(path(), "wbe");
  if (!file) {
    std::fprintf(stderr, "forkjoin-profile: FORKJOIN_PROFILE_RUNS: cannot write %s\n", path());
    return;
  }
  of_earlier_runs& k = known();
  // The first run may cut loops in another way.
  if (k.runs > 1 && (at != std::min(k.timed.size(), most_lengths) || now.strands != k.all.strands)) repeats = false;
  const std::uint64_t head[3] = {magic, k.runs + 1, now.strands};
  std::fwrite(head, sizeof head, 1, file);
  write(file, now.sites);
  write(file, now.kinds);
  write(file, now.types);
  write(file, k.timed);
  write(file, k.types);
  write(file, surprises_again());
  const bool failed = std::ferror(file) != 0;
  if (std::fclose(file) != 0 || failed)
    std::fprintf(stderr, "forkjoin-profile: FORKJOIN_PROFILE_RUNS: cannot write %s\n", path());
}

}}}}  // namespace fj::v0_4::detail::profile
