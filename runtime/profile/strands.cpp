#include "runtime/profile/strands.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/os/cpu_time.hpp"
#include "runtime/os/ticks.hpp"
#include "runtime/profile/earlier_runs.hpp"
#include "runtime/profile/sites.hpp"

namespace fj { inline namespace v0_2 { namespace detail { namespace profile {

namespace {

// Nanoseconds.
constexpr double is_tiny = 8;          // readings do not tell two such strands apart; only sums of many are right
constexpr double is_short = 300;       // to time each one would take a tenth as long, or more
constexpr double most_alike = 20'000;  // what takes longer is timed, even if all are alike: that costs little
constexpr double may_be_preempted = 30'000;
// What is not expected: the timer's interrupts take up to 20'000. What comes again at the same place in another run is none.
constexpr double is_surprising = 50'000, may_be_surprising = 3'000;

constexpr std::uint32_t gap_of_some = 192;  // strands that are not timed between two that are, on average
constexpr std::uint32_t looks = 64;         // as many as a type remembers

std::vector<strand_type*> types;
std::vector<strand_kind*> kinds;

double ticks_of(double ns) noexcept { return ns * ticks_per_ns; }

// --- chance ---

std::uint64_t chance = 0x9e3779b97f4a7c15u;

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
std::uint64_t last_reading = 0;

/// The ticks are read after the thread's clock: another thread may have the processor between the two, which is before what follows.
void note_moment() noexcept {
  const std::int64_t cpu_ns = os::thread_cpu_ns();
  last_known = {os::ticks_in_order(), cpu_ns};
}

/// From last_known to `now`, which has just been read, the ticks in which another thread had the processor. If one has it between that
/// reading and that of the thread's clock, the thread's clock stands.
double taken_away(std::uint64_t now) noexcept {
  const moment before = last_known;
  note_moment();
  clock_is_stale();
  const double passed = static_cast<double>(now) - static_cast<double>(before.ticks);
  return std::max(0.0, passed - static_cast<double>(last_known.cpu_ns - before.cpu_ns) * ticks_per_ns);
}

// --- windows: the time between two readings, in which strands are not timed ---

struct window {
  std::uint64_t began = 0;
  double timed = 0;  // of it that is accounted for
};
window current_window;

/// Of tiny strands: how long they take in windows, and as the readings say.
double tiny_passed = 0, tiny_measured = 0;

double scale_of_tiny() noexcept { return tiny_measured > 0 ? std::clamp(tiny_passed / tiny_measured, 0.01, 2.0) : 1; }

/// Of those that were not timed: as long as their length was.
void add_up(strand_type& type) noexcept {
  type.total += static_cast<double>(type.count - type.added) * type.length;
  type.added = type.count;
}

void set_length(strand_type& type) noexcept {
  add_up(type);
  type.length = type.known > 0 ? type.known : type.measured * (type.is_tiny ? scale_of_tiny() : 1);
}

void open_window(std::uint64_t now) noexcept {
  current_window = {now, 0};
  for (strand_type* const type : types) type->at_window = type->count;
}

/// In the time since it was opened, all strands are accounted for by their lengths, or the lengths are wrong.
void close_window(std::uint64_t now) noexcept {
  double tiny = 0, other = 0;
  std::uint64_t n = 0, strands_so_far = 0;
  for (const strand_type* const type : types) {
    const auto some = type->count - type->at_window;
    strands_so_far += type->count + type->timed;
    n += some;
    (type->is_tiny ? tiny : other) += static_cast<double>(some) * (type->is_tiny ? type->measured : type->length);
  }
  if (n == 0) return;
  const double passed = static_cast<double>(now - current_window.began) - current_window.timed - cost.fresh;
  const double strands = passed - static_cast<double>(n) * cost.event;
  const double expected = tiny * scale_of_tiny() + other;
  double excess = strands - expected;
  if (excess > expected + ticks_of(may_be_surprising)) {
    // A strand took long although those of its kind do not. Which one of the window's is not known: the one that has just ended is near.
    excess -= taken_away(now);
    if (n > 10 * gap_of_some) return;
    const double least = least_surprise(strands_so_far - n, strands_so_far, excess);
    if (least > ticks_of(has_earlier_runs() ? may_be_surprising : is_surprising)) {
      strand.surprise += least;
    }
    return;
  }
  if (tiny > other) {
    tiny_passed += std::max(0.0, strands - other);
    tiny_measured += tiny;
  }
}

// --- types ---

/// What those took that were timed last.
struct summary {
  double low, high;  // a tenth of them took less than low, and a tenth more than high
  double
      inner_mean;  // of the middle half: the counter may go in steps of ten nanoseconds, so a median would be too coarse
  double mean;     // but of those that an interrupt may have hit
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
  summary of{all[n / 10], all[n - 1 - n / 10], mean(n / 4, n - n / 4), 0, n, 0};
  const double most = 4 * of.high + ticks_of(1000);
  while (of.hit + 1 < n && all[n - 1 - of.hit] > most) ++of.hit;
  of.mean = mean(0, n - of.hit);
  return of;
}

/// Whether all strands of the type may be taken to be as long as those that were timed.
bool measure(strand_type& type) noexcept {
  const summary of = summary_of(type);
  const bool are_short = of.high < ticks_of(is_short);
  const bool are_alike = of.high - of.low < 0.1 * of.inner_mean && of.inner_mean < ticks_of(most_alike);
  type.is_tiny = of.mean < ticks_of(is_tiny);
  type.measured = are_alike ? of.inner_mean : of.mean;
  set_length(type);
  return (are_short || are_alike) && (of.hit < 3 || of.hit * 32 < of.n);
}

void choose_way(strand_kind& kind) noexcept {
  kind.look_at = kind.were_timed + (kind.timed == way::some ? looks : kind.were_timed);
  bool all_known = true;
  for (strand_type* const type : kind.types)
    if (type->timed != 0) all_known &= measure(*type);
  if (has_earlier_runs()) return;
  kind.timed = all_known ? way::some : way::each;
  for (strand_type* const type : kind.types) {
    type->runs_on = kind.timed == way::each && type->timed >= looks && measure(*type);
    if (!type->runs_on) type->unread = 0;
  }
}

}  // namespace

void add_kind(strand_kind& one, site& owner) {
  one.owner = &owner;
  one.number = static_cast<std::uint32_t>(kinds.size());
  kinds.push_back(&one);
  if (has_earlier_runs()) {
    one.timed = known_way(one.number);
    one.left = one.timed == way::some ? about(gap_of_some) : 1;
  }
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
    found->number = static_cast<std::uint32_t>(types.size());
    found->known = known_length(found->number);
    found->runs_on = is_known_to_run_on(found->number);
    found->unread = found->runs_on ? about(gap_of_some) : 0;
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
  strand.clock = clock_state::just_read;
  strand.began = now;
  strand.own_cost = cost.shared;
  last_reading = now;
  strand_type& type = find_type(kind, end);
  double length = std::max(0.0, passed - strand.own_cost);
  current_window.timed += passed;
  if (length > ticks_of(may_be_preempted)) {
    length = std::max(0.0, length - taken_away(now));
  } else if (now - last_known.ticks > static_cast<std::uint64_t>(ticks_of(2'000'000))) {
    note_moment();  // not long before a strand that is interrupted
    clock_is_stale();
  }
  type.newest[type.timed++ % looks] = static_cast<float>(length);
  const bool is_usual = has_earlier_runs() || length < 4 * type.length + ticks_of(2000);
  if (type.runs_on) {
    if (is_usual) type.unread = about(gap_of_some);
    if (is_usual) length = type.length;
  } else if (kind.timed == way::each) {
    length = least_of_runs(type.number, length);
  } else if (kind.timed == way::some && is_usual) {
    length = type.length;
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
  kind.left = kind.timed == way::some ? about(gap_of_some) : 1;
  if (strand.clock == clock_state::idle) {
    strand.own_cost = cost.fresh;
    strand.began = os::ticks_in_order();
    const bool is_sample = kind.timed == way::some;
    if (is_sample) close_window(strand.began);
    // If another thread had the processor meanwhile, that is not to be taken from this strand.
    const bool is_long_ago = static_cast<double>(strand.began - last_reading) > ticks_of(20'000);
    if (is_long_ago) note_moment();
    if (is_sample || is_long_ago) strand.began = os::ticks_in_order();
    if (is_sample) open_window(strand.began);
  }
  strand.clock = clock_state::strand_is_timed;
}

void add_up_strands() noexcept {
  for (strand_kind* const kind : kinds) {
    const auto& branches = kind->owner->branch;
    const bool is_of_branch = kind >= branches.begin() && kind < branches.end();
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

namespace {

std::int64_t began_at = 0, ran = 0;

}  // namespace

void start_strands() {
  types.clear();
  kinds.clear();
  strand = {};
}

void strands_go_on() noexcept {
  note_moment();
  last_reading = last_known.ticks;
  began_at = last_known.cpu_ns;
  open_window(last_known.ticks);
}

void strands_stop() noexcept {
  note_moment();
  ran += last_known.cpu_ns - began_at;
}

std::int64_t ran_ns() noexcept { return ran; }

std::uint64_t number_of_strands() noexcept {
  std::uint64_t sum = 0;
  for (const strand_type* const type : types) sum += type->count + type->timed;
  return sum;
}

std::vector<way> ways_of_kinds() {
  std::vector<way> all;
  for (const strand_kind* const kind : kinds) all.push_back(kind->timed == way::learning ? way::each : kind->timed);
  return all;
}

std::vector<std::uint8_t> types_that_run_on() {
  std::vector<std::uint8_t> all;
  for (const strand_type* const type : types) all.push_back(type->runs_on);
  return all;
}

std::vector<double> lengths_of_types() {
  std::vector<double> all;
  for (strand_type* const type : types) {
    if (type->timed != 0) measure(*type);
    const double own = type->measured * (type->is_tiny ? scale_of_tiny() : 1);
    all.push_back(type->timed == 0 ? type->known : type->known > 0 ? std::min(type->known, own) : own);
  }
  return all;
}

}}}}  // namespace fj::v0_2::detail::profile
