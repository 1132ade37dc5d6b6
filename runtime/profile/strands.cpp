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

constexpr double sample_ns = 100;           // to time a strand, and to look at the window before it
constexpr double most_for_samples = 0.02;   // of the time
constexpr std::uint32_t gap_of_some = 192;  // strands that are not timed between two that are, at most
constexpr std::uint32_t looks = 64;         // as many as a type remembers

std::vector<strand_type*> types;
std::vector<strand_kind*> kinds;

double ticks_of(double ns) noexcept { return ns * ticks_per_ns; }

// --- chance ---

std::uint64_t chance = 0x9e3779b97f4a7c15u;

/// How many strands of this length are not timed between two that are, on average: to time one takes as long as the profile's work at many.
std::uint32_t gap_of(double length) noexcept {
  return static_cast<std::uint32_t>(
      std::clamp(ticks_of(sample_ns) / (most_for_samples * std::max(length, 1.0)), 8.0, 1.0 * gap_of_some));
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

/// How long strands that are tiny, or brief, take in windows, by how long they are as the readings say.
class scale {
 public:
  void add(double passed, double measured) noexcept {
    passed_ += std::max(passed, 0.0);
    measured_ += measured;
  }
  double factor() const noexcept { return measured_ > 0 ? std::clamp(passed_ / measured_, 0.01, 2.0) : 1; }

 private:
  double passed_ = 0, measured_ = 0;
};
scale of_tiny, of_brief;

double measured_length(const strand_type& type) noexcept {
  return type.measured * (type.are == lengths_are::tiny    ? of_tiny.factor()
                          : type.are == lengths_are::brief ? of_brief.factor()
                                                           : 1);
}

/// Of those that were not timed: as long as their length was.
void add_up(strand_type& type) noexcept {
  type.total += static_cast<double>(type.count - type.added) * type.length;
  type.added = type.count;
}

void set_length(strand_type& type) noexcept {
  add_up(type);
  type.length = type.known > 0 ? type.known : measured_length(type);
}

void open_window(std::uint64_t now) noexcept {
  current_window = {now, 0};
  for (strand_type* const type : types) type->at_window = type->count;
}

/// In the time since it was opened, all strands are accounted for by their lengths, or the lengths are wrong.
void close_window(std::uint64_t now) noexcept {
  double tiny = 0, brief = 0, other = 0;
  std::uint64_t n = 0, strands_so_far = 0;
  for (const strand_type* const type : types) {
    const auto some = type->count - type->at_window;
    strands_so_far += type->count + type->timed;
    n += some;
    (type->are == lengths_are::tiny    ? tiny
     : type->are == lengths_are::brief ? brief
                                       : other) += static_cast<double>(some) * type->measured;
  }
  if (n == 0) return;
  const double passed = static_cast<double>(now - current_window.began) - current_window.timed - cost.fresh;
  const double strands = passed - static_cast<double>(n) * cost.event;
  const double all_tiny = tiny * of_tiny.factor(), all_brief = brief * of_brief.factor();
  const double expected = all_tiny + all_brief + other;
  double excess = strands - expected;
  if (excess > expected + ticks_of(may_be_surprising)) {
    // A strand took long although those of its kind do not. Which one of the window's is not known: the one that has just ended is near.
    excess -= taken_away(now);
    if (n > 10 * gap_of_some) return;
    const double least = least_surprise(strands_so_far - n, strands_so_far, excess);
    if (least > ticks_of(has_earlier_runs() ? may_be_surprising : is_surprising)) strand.surprise += least;
  } else if (tiny > brief + other) {
    of_tiny.add(strands - all_brief - other, tiny);
  } else if (brief > other) {
    of_brief.add(strands - all_tiny - other, brief);
  }
}

// --- types ---

/// What those took that were timed last.
struct summary {
  double low, high;    // a tenth of them took less than low, and a tenth more than high
  double lower_mean;   // of the lower half: what others do on the machine makes strands longer, if they are alike
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
  summary of{all[n / 10], all[n - 1 - n / 10], mean(n / 10, n - n / 2), 0, 0, n, 0};
  of.most = 4 * of.high + ticks_of(1000);
  while (of.hit + 1 < n && all[n - 1 - of.hit] > of.most) ++of.hit;
  of.mean = mean(0, n - of.hit);
  return of;
}

/// Whether all strands of the type may be taken to be as long as those that were timed.
bool measure(strand_type& type) noexcept {
  const summary of = summary_of(type);
  const double mean = type.samples >= looks ? type.sampled / static_cast<double>(type.samples) : of.mean;
  const bool are_alike = of.high - of.low < 0.1 * of.lower_mean && of.lower_mean < ticks_of(most_alike);
  type.most = of.most;
  type.are = mean < ticks_of(is_tiny)       ? lengths_are::tiny
             : are_alike                    ? lengths_are::alike
             : of.high < ticks_of(is_short) ? lengths_are::brief
                                            : lengths_are::unknown;
  type.measured = are_alike ? of.lower_mean : mean;
  set_length(type);
  return type.are != lengths_are::unknown && (of.hit < 3 || of.hit * 32 < of.n);
}

void choose_way(strand_kind& kind) noexcept {
  kind.look_at = kind.were_timed + (kind.timed == way::some ? looks : kind.were_timed);
  bool all_known = true;
  for (strand_type* const type : kind.types)
    if (type->timed != 0) all_known &= measure(*type);
  double ticks = 0, n = 0;
  for (const strand_type* const type : kind.types) {
    n += static_cast<double>(type->timed);
    ticks += static_cast<double>(type->timed) * type->measured;
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

void add_kind(strand_kind& one, site& owner, lasting_key key) {
  one.owner = &owner;
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
      found->known = known->length;
      found->runs_on = known->runs_on;
      found->unread = known->runs_on ? about(gap_of(known->length)) : 0;
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
    length = std::max(0.0, length - taken_away(now));
  } else if (now - last_known.ticks > static_cast<std::uint64_t>(ticks_of(2'000'000))) {
    note_moment();  // not long before a strand that is interrupted
    clock_is_stale();
  }
  type.newest[type.timed++ % looks] = static_cast<float>(length);
  const bool is_usual = has_earlier_runs() || length < 4 * type.length + ticks_of(2000);
  if ((type.runs_on || kind.timed == way::some) && length < type.most) {
    type.sampled += length;
    ++type.samples;
  }
  if (type.runs_on) {
    if (is_usual) type.unread = about(gap_of(type.length));
    if (is_usual) length = type.length;
  } else if (kind.timed == way::each) {
    length = least_of_runs(type.key, length);
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
  kind.left = kind.timed == way::some ? about(kind.gap) : 1;
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

void start_strands() {
  types.clear();
  kinds.clear();
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
    if (type->timed != 0) measure(*type);
    // Of strands that are alike the least counts, and of others the mean: their samples differ from run to run.
    const double own = type->timed != 0 ? measured_length(*type) : 0, before = type->known;
    const auto runs = static_cast<double>(number_of_run());
    const double length = own <= 0                          ? before
                          : before <= 0                     ? own
                          : type->are == lengths_are::alike ? std::min(before, own)
                                                            : (before * runs + own) / (runs + 1);
    to.types.push_back({type->key, length, type->runs_on});
  }
}

}}}}  // namespace fj::v0_2::detail::profile
