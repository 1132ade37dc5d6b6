#include "runtime/profile/strands.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "forkjoin/abi/os/ticks.hpp"
#include "runtime/os/cpu_time.hpp"
#include "runtime/profile/earlier_runs.hpp"
#include "runtime/profile/scale.hpp"
#include "runtime/profile/sites.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

namespace {

// Nanoseconds.
constexpr double is_tiny = 20;         // readings do not tell two such strands apart; only sums of many are right
constexpr double is_short = 300;       // to time each one would take a tenth as long, or more
constexpr double most_alike = 20'000;  // what takes longer is timed, even if all are alike: that costs little
constexpr double may_be_preempted = 30'000;
// What is not expected: the timer's interrupts take up to 20'000. What comes again at the same place in another run is
// none.
constexpr double is_surprising = 50'000, may_be_surprising = 3'000;

constexpr double sample_ns = 100;           // to time a strand, and to look at the window before it
constexpr double most_for_samples = 0.02;   // of the time
constexpr std::uint32_t gap_of_some = 192;  // strands that are not timed between two that are, at most
constexpr std::uint32_t looks = 64;         // as many as a type remembers

std::vector<strand_type*> types;
std::vector<strand_kind*> kinds;

double ticks_of(double ns) noexcept { return ns * ticks_per_ns; }

// --- chance ---

std::uint64_t chance = 0x9e3779b97f4a7c15u;

/// How many strands of this length are not timed between two that are, on average: to time one takes as long as the
/// profile's work at many.
std::uint32_t gap_of(double length) noexcept {
  return static_cast<std::uint32_t>(
      std::clamp(ticks_of(sample_ns) / (most_for_samples * std::max(length, 1.0)), 12.0, 1.0 * gap_of_some));
}

/// Half of it to one and a half times, so that no pattern of the program is in step with it.
std::uint32_t about(std::uint32_t gap) noexcept {
  chance ^= chance << 13;
  chance ^= chance >> 7;
  chance ^= chance << 17;
  return gap / 2 + static_cast<std::uint32_t>(chance % (gap + 1));
}

// --- what the system takes away ---

struct moment {
  std::uint64_t ticks;
  std::int64_t cpu_ns;
};
moment last_known{0, 0};
double taken_so_far = 0;  // ticks in which other threads had the CPU, up to last_known
std::uint64_t last_reading = 0;

/// A window is the time between two readings, in which strands are not timed.
struct window {
  std::uint64_t began = 0;
  double timed = 0;         // of it that is no such strand's
  double taken_before = 0;  // taken_so_far when it began
};
window current_window;

/// The ticks are read after the thread's clock: another thread may have the CPU between the two, which is before what
/// follows.
void note_moment() noexcept {
  const std::int64_t cpu_ns = os::thread_cpu_ns();
  last_known = {os::ticks_in_order(), cpu_ns};
}

/// From last_known to `now`, which has just been read, the ticks in which another thread had the CPU. If one has it
/// between that reading and that of the thread's clock, the thread's clock stands.
double taken_away(std::uint64_t now) noexcept {
  const moment before = last_known;
  note_moment();
  clock_is_stale();
  current_window.timed += static_cast<double>(last_known.ticks - now);
  const double passed = static_cast<double>(now) - static_cast<double>(before.ticks);
  const double taken = std::max(0.0, passed - static_cast<double>(last_known.cpu_ns - before.cpu_ns) * ticks_per_ns);
  taken_so_far += taken;
  return taken;
}

// --- windows ---

// No reading tells how long a tiny strand is. One of a brief strand is too long, if anything.
const scale unknown_tiny(0.01, 2), unknown_brief(0.5, 1);
scale of_tiny = unknown_tiny, of_brief = unknown_brief;

/// nullptr if readings are right.
scale* scale_of(lengths_are are) noexcept {
  return are == lengths_are::tiny ? &of_tiny : are == lengths_are::brief ? &of_brief : nullptr;
}

std::uint64_t strands_so_far() noexcept {
  std::uint64_t n = 0;
  for (const strand_type* const type : types) n += type->count + type->timed;
  return n;
}

/// A strand among these took so many ticks more than those of its type do. Returns how many of them count.
double surprise(std::uint64_t from, std::uint64_t to, double ticks) noexcept {
  if (ticks < ticks_of(may_be_surprising)) return 0;
  const double least = least_surprise(from, to, ticks);
  return least > ticks_of(has_earlier_runs() ? may_be_surprising : is_surprising) ? least : 0;
}

/// Of those that were not timed: as long as their length was.
void add_up(strand_type& type) noexcept {
  type.total += static_cast<double>(type.count - type.added) * type.length;
  type.added = type.count;
}

void set_length(strand_type& type) noexcept {
  add_up(type);
  type.length = type.known > 0 ? type.known : type.measured * (scale_of(type.are) ? scale_of(type.are)->factor() : 1);
}

void open_window(std::uint64_t now) noexcept {
  current_window = {now, 0, taken_so_far};
  for (strand_type* const type : types) type->at_window = type->count;
}

/// In the time since it was opened, all strands are accounted for by their lengths, or the lengths are wrong.
void close_window(std::uint64_t now) noexcept {
  double tiny = 0, brief = 0;  // as the readings say
  double expected = 0, expected_tiny = 0, expected_brief = 0;
  std::uint64_t n = 0, n_tiny = 0;
  for (const strand_type* const type : types) {
    const auto some = type->count - type->at_window;
    const double ticks = static_cast<double>(some) * type->length;
    n += some;
    expected += ticks;
    if (type->are == lengths_are::tiny) {
      n_tiny += some;
      tiny += static_cast<double>(some) * type->measured;
      expected_tiny += ticks;
    } else if (type->are == lengths_are::brief) {
      brief += static_cast<double>(some) * type->measured;
      expected_brief += ticks;
    }
  }
  if (n == 0) return;
  double strands = static_cast<double>(now - current_window.began) - current_window.timed - cost.fresh -
                   static_cast<double>(n) * cost.event - (taken_so_far - current_window.taken_before);
  if (strands > 2 * expected + ticks_of(may_be_surprising)) strands -= taken_away(now);
  if (strands > 2 * expected + ticks_of(may_be_surprising) && n <= 10 * gap_of_some) {
    // A strand took long although those of its kind do not. Which one of the window's is not known: the one that has
    // just ended is near.
    const std::uint64_t number = strands_so_far();
    strand.surprise += surprise(number - n, number, strands - expected);
  }
  if (expected_brief > 0.75 * expected) {
    of_brief.add(strands - (expected - expected_brief), brief);
  } else if (2 * n_tiny > n && tiny > expected / 16) {
    of_tiny.add(strands - (expected - expected_tiny), tiny);
  }
}

// --- types ---

/// What those took that were timed last.
struct summary {
  double low, high;  // a tenth of them took less than low, and a tenth more than high
  double
      usual;  // mean but of those that took longest, if they are alike: what others do on the machine makes them longer
  double mean;         // but of those that an interrupt may have hit
  double most;         // as others take longer
  std::size_t n, hit;  // how many, and how many of those
};

summary summary_of(const strand_type& type) noexcept {
  std::array<float, looks> all = type.newest;
  const std::size_t n = std::min<std::size_t>(type.timed, looks);
  const auto at = [&](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto mean = [&](std::size_t begin, std::size_t end) {
    return std::accumulate(at(begin), at(end), 0.0) / static_cast<double>(end - begin);
  };
  std::sort(all.begin(), at(n));
  summary of{all[n / 10], all[n - 1 - n / 10], 0, 0, 0, n, 0};
  // The counter may go in steps of ten nanoseconds: the lower half of short ones would be too short.
  of.usual = mean(n / 10, n - n / 10);
  if (of.usual > ticks_of(1000)) of.usual = mean(n / 10, n - n / 2);
  of.most = 4 * of.high + ticks_of(1000);
  while (of.hit + 1 < n && all[n - 1 - of.hit] > of.most) ++of.hit;
  of.mean = mean(0, n - of.hit);
  return of;
}

/// Whether all strands of the type may be taken to be as long as those that were timed.
bool measure(strand_type& type) noexcept {
  const summary of = summary_of(type);
  const double mean = type.samples >= looks ? type.sampled / static_cast<double>(type.samples) : of.mean;
  const bool are_alike = of.high - of.low < 0.1 * of.usual && of.usual < ticks_of(most_alike);
  type.are = mean < ticks_of(is_tiny)       ? lengths_are::tiny
             : are_alike                    ? lengths_are::alike
             : of.high < ticks_of(is_short) ? lengths_are::brief
                                            : lengths_are::unknown;
  type.measured = are_alike ? of.usual : mean;
  set_length(type);
  return type.are != lengths_are::unknown && (of.hit < 3 || of.hit * 32 < of.n);
}

void choose_way(strand_kind& kind) noexcept {
  kind.look_at = kind.were_timed + (kind.timed == way::some ? looks : kind.were_timed);
  bool all_known = true;
  for (strand_type* const type : kind.types)
    if (type->timed != 0 && type->known <= 0) all_known &= measure(*type);
  double ticks = 0, n = 0;
  for (const strand_type* const type : kind.types) {
    n += static_cast<double>(type->timed);
    ticks += static_cast<double>(type->timed) * type->length;
  }
  kind.gap = gap_of(ticks / n);
  if (has_earlier_runs()) return;
  kind.timed = all_known ? way::some : way::each;
  for (strand_type* const type : kind.types) {
    type->runs_on = kind.timed == way::each && type->timed >= looks && measure(*type);
    if (!type->runs_on) type->unread = 0;
  }
}

}  // namespace

void add_kind(strand_kind& one, site& owner, lasting_key key, begin_at where) {
  one.owner = &owner;
  one.begins_branch = where == begin_at::branch;
  one.key = key;
  kinds.push_back(&one);
  if (!has_earlier_runs()) return;
  const known_kind* const known = find_known_kind(key);
  one.timed = known ? known->timed : way::each;
  one.left = one.timed == way::some ? about(gap_of_some) : 1;
}

void leave_out(std::uint64_t ticks) noexcept {
  current_window.began += ticks;
  last_reading += ticks;
  strand.began += ticks;
  clock_is_stale();
}

strand_type& find_type(strand_kind& kind, const void* end) noexcept {
  strand_type* found = nullptr;
  for (strand_type* const type : kind.types)
    if (type->end == end) found = type;
  if (!found) {
    found = new strand_type;
    found->end = end;
    found->key = key_of(kind.key, key_of_end(end));
    if (const known_type* const known = find_known_type(found->key)) {
      found->known = length_of(*known);
      found->measured = known->measured;
      found->are = known->are;
      found->runs_on = known->runs_on;
      found->unread = known->runs_on ? about(gap_of(found->known)) : 0;
    }
    set_length(*found);
    types.push_back(found);
    kind.types.push_back(found);
    if (!has_earlier_runs() && kind.timed == way::some) {
      kind.timed = way::learning;
      kind.look_at = kind.were_timed + looks;
      kind.left = 1;
    }
    clock_is_stale();
  }
  if (end == &end_of_branch) {
    kind.end_of_branch = found;
  } else {
    kind.recent = {end, found};
  }
  return *found;
}

namespace {

/// Without a reading: the clock runs on, and the next strand, if it is timed, is what is left.
double run_on(strand_type& type) noexcept {
  --type.unread;
  ++type.count;
  ++type.at_window;  // the window is told by the strand that is timed
  strand.clock = clock_state::just_read;
  strand.own_cost += type.length + cost.event;
  return type.length;
}

}  // namespace

double end_timed(const void* end) noexcept {
  strand_kind& kind = *strand.kind;
  if (strand.clock == clock_state::just_read) {  // this one is not
    strand.clock = clock_state::idle;
    return end_strand(end);
  }
  if (kind.recent.end == end && kind.recent.type->unread != 0) return run_on(*kind.recent.type);
  const std::uint64_t now = os::ticks_in_order();
  const double passed = static_cast<double>(now - strand.began);
  double length = std::max(0.0, passed - std::exchange(strand.own_cost, cost.shared));
  strand.clock = clock_state::just_read;
  strand.began = now;
  last_reading = now;
  strand_type& type = find_type(kind, end);
  current_window.timed += passed;
  if (length > ticks_of(may_be_preempted)) {
    const double taken = taken_away(now);
    current_window.timed -= taken;
    length = std::max(0.0, length - taken);
  } else if (now - last_known.ticks > static_cast<std::uint64_t>(ticks_of(2'000'000))) {
    taken_away(now);  // not long before a strand that is interrupted
  }
  if (type.runs_on || kind.timed == way::some) {
    const double expected = type.length;
    if (length < 4 * expected + ticks_of(2000)) {
      type.sampled += length;
      ++type.samples;
      if (type.runs_on) type.unread = about(gap_of(expected));
      type.note(length);
      length = expected;
    } else {
      const std::uint64_t number = strands_so_far();
      type.note(length);
      length = expected + surprise(number, number + 1, length - expected);
    }
  } else {
    type.note(length);
    if (kind.timed == way::each) length = least_of_runs(type.key, length);
  }
  length += std::exchange(strand.surprise, 0);
  type.total += length;
  if (++kind.were_timed == kind.look_at) {
    choose_way(kind);
    clock_is_stale();
  }
  return length;
}

void begin_timed(strand_kind& kind) noexcept {
  kind.left = kind.timed == way::some ? about(kind.gap) : 1;
  if (strand.clock == clock_state::idle) {
    strand.own_cost = cost.fresh;
    strand.began = os::ticks_in_order();
    const bool is_sample = kind.timed == way::some;
    if (is_sample) close_window(strand.began);
    // If another thread had the CPU meanwhile, that is not to be taken from this strand.
    const bool is_long_ago = static_cast<double>(strand.began - last_reading) > ticks_of(20'000);
    if (is_long_ago) taken_away(strand.began);
    if (is_sample || is_long_ago) strand.began = os::ticks_in_order();
    if (is_sample) {
      open_window(strand.began);
    } else {
      current_window.timed += cost.fresh;
    }
  }
  strand.clock = clock_state::strand_is_timed;
}

void add_up_strands() noexcept {
  for (strand_kind* const kind : kinds) {
    const bool is_of_branch = kind->begins_branch;
    for (strand_type* const type : kind->types) {
      add_up(*type);
      kind->owner->own += type->total;
      if (!is_of_branch) kind->owner->after += type->total;
      if (is_of_branch && type->end != &end_of_branch) kind->owner->before += type->total;
      site* const begun = site_of(type->end);
      if (begun) begun->blocks += type->count + type->timed;
      if (is_of_branch) kind->owner->branches += type->count + type->timed;
    }
  }
}

void start_strands() {
  types.clear();
  kinds.clear();
  of_tiny = unknown_tiny;
  of_brief = unknown_brief;
  strand = {};
}

void strands_go_on() noexcept {
  note_moment();
  last_reading = last_known.ticks;
  open_window(last_known.ticks);
}

void know_strands(knowledge& to) {
  for (const strand_kind* const kind : kinds)
    to.kinds.push_back({kind->key, kind->timed == way::learning ? way::each : kind->timed});
  for (strand_type* const type : types) {
    to.strands += type->count + type->timed;
    known_type learned{.key = type->key};
    if (const known_type* const known = find_known_type(type->key)) learned = *known;
    if (type->are == lengths_are::unknown && type->known <= 0 && type->timed != 0) measure(*type);
    learned.are = type->are;
    learned.runs_on = type->runs_on;
    const double mean = type->samples != 0 ? type->sampled / static_cast<double>(type->samples) : type->measured;
    if (scale* const by_windows = scale_of(type->are)) {
      add_length(learned, by_windows->is_known() ? type->measured * by_windows->factor() : mean);
      // The next run's windows are told by the mean of all samples.
      const auto before = static_cast<double>(learned.samples), more = static_cast<double>(type->samples);
      learned.measured = before + more > 0 ? (before * type->measured + more * mean) / (before + more) : type->measured;
      learned.samples += type->samples;
    } else if (type->timed != 0) {
      add_length(learned, type->are == lengths_are::alike ? summary_of(*type).usual : mean);
    }
    to.types.push_back(learned);
  }
}

}}}}  // namespace fj::v0_4::detail::profile
