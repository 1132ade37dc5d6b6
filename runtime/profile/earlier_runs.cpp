#include "runtime/profile/earlier_runs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/profile/strands.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace profile {

namespace {

constexpr std::uint64_t magic = 0x31'66'6f'72'70'6a'66;  // "fjprof1"
constexpr std::size_t most_lengths = std::size_t{1} << 26;

struct surprise_of_run {
  std::uint64_t from, to;
  double ticks;
};

struct known {
  std::uint64_t runs = 0;
  std::uint64_t strands = 0;  // of the latest
  std::vector<way> ways;
  std::vector<double> lengths;
  std::vector<std::uint8_t> run_on;
  std::vector<std::uint64_t> parts;
  std::vector<std::uint32_t> lines;
  // Of the strands that are timed, in their order: the least length, in ticks, and the type's number modulo 256.
  std::vector<float> timed;
  std::vector<std::uint8_t> types;
  std::vector<surprise_of_run> surprises;
};

known& all_known() {
  static known& one = *new known;
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
T one_of(const std::vector<T>& from, std::uint32_t number, T none) noexcept {
  return number < from.size() ? from[number] : none;
}

const char* path() noexcept {
  const char* const name = std::getenv("FORKJOIN_PROFILE_RUNS");
  return name && *name ? name : nullptr;
}

}  // namespace

bool has_earlier_runs() noexcept { return earlier; }
unsigned number_of_run() noexcept { return static_cast<unsigned>(all_known().runs); }
bool repeats_earlier_runs() noexcept { return repeats; }
way known_way(std::uint32_t kind) noexcept { return one_of(all_known().ways, kind, way::each); }
double known_length(std::uint32_t type) noexcept { return one_of(all_known().lengths, type, 0.0); }
bool is_known_to_run_on(std::uint32_t type) noexcept { return one_of(all_known().run_on, type, std::uint8_t{0}) != 0; }
std::uint64_t known_part(std::uint32_t site) noexcept { return one_of(all_known().parts, site, std::uint64_t{0}); }
std::uint32_t known_first_of_line(std::uint32_t site) noexcept { return one_of(all_known().lines, site, site); }

double least_of_runs(std::uint32_t type, double length) noexcept {
  if (!earlier) return length;
  known& k = all_known();
  if (!repeats) return length;
  const auto kind = static_cast<std::uint8_t>(type);
  if (k.runs == 1) {  // the first run after the one that learned
    if (at == most_lengths) return length;
    k.timed.push_back(static_cast<float>(length));
    k.types.push_back(kind);
  } else if (at == k.timed.size() || k.types[at] != kind) {
    repeats = at == most_lengths;
    return length;
  } else {
    k.timed[at] = std::min(k.timed[at], static_cast<float>(length));
    length = k.timed[at];
  }
  ++at;
  return length;
}

double least_surprise(std::uint64_t from, std::uint64_t to, double ticks) noexcept {
  if (earlier) {
    const auto& all = all_known().surprises;
    const auto found = std::ranges::lower_bound(all, from, {}, &surprise_of_run::to);
    if (found == all.end() || found->from > to) return 0;
    if (ticks > 2 * found->ticks || found->ticks > 2 * ticks) return 0;  // the same strand would take about as long
    ticks = std::min(ticks, found->ticks);
  }
  surprises_again().push_back({from, to, ticks});
  return ticks;
}

void load_earlier_runs() noexcept {
  std::FILE* const file = path() ? std::fopen(path(), "rbe") : nullptr;
  if (!file) return;
  known& k = all_known();
  std::uint64_t head[3] = {};
  earlier = std::fread(head, sizeof head, 1, file) == 1 && head[0] == magic && read(file, k.ways) &&
            read(file, k.lengths) && read(file, k.run_on) && read(file, k.parts) && read(file, k.lines) &&
            read(file, k.timed) && read(file, k.types) && read(file, k.surprises);
  std::fclose(file);
  k.runs = head[1];
  k.strands = head[2];
  if (!earlier) k = {};
  if (k.runs == 1) {  // address space, so that no strand waits for a copy
    k.timed.reserve(most_lengths);
    k.types.reserve(most_lengths);
  }
}

void save_runs(const std::uint64_t* parts, const std::uint32_t* lines, std::uint32_t sites) noexcept {
  if (!path()) return;
  std::FILE* const file = std::fopen(path(), "wbe");
  if (!file) {
    std::fprintf(stderr, "forkjoin-profile: FORKJOIN_PROFILE_RUNS: cannot write %s\n", path());
    return;
  }
  known& k = all_known();
  const std::uint64_t strands = number_of_strands();
  // The first run may cut loops in another way.
  if (k.runs > 1 && (at != k.timed.size() || strands != k.strands)) repeats = false;
  if (!earlier) {
    k.ways = ways_of_kinds();
    k.run_on = types_that_run_on();
  }
  k.lengths = lengths_of_types();
  k.parts.assign(parts, parts + sites);
  k.lines.assign(lines, lines + sites);
  const std::uint64_t head[3] = {magic, k.runs + 1, strands};
  std::fwrite(head, sizeof head, 1, file);
  write(file, k.ways);
  write(file, k.lengths);
  write(file, k.run_on);
  write(file, k.parts);
  write(file, k.lines);
  write(file, k.timed);
  write(file, k.types);
  write(file, surprises_again());
  std::fclose(file);
}

}}}}  // namespace fj::v0_2::detail::profile
