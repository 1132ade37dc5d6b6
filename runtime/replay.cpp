#include "runtime/replay.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

#include "forkjoin/abi/mutex.hpp"
#include "forkjoin/abi/os/clock.hpp"
#include "runtime/fork/current.hpp"
#include "runtime/lost_fibers.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/thread.hpp"
#include "runtime/sched/scheduler.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// A strand that asks again and again, as by try_lock, is not to go on for ever.
constexpr unsigned most_points_in_row = 200;
// By priorities, one of so many choices where the thread that has the turn cannot go on is at random: what goes first
// may wait for another.
constexpr std::uint32_t choices_a_fair_one = 16;

constexpr std::int64_t first_of_all = std::int64_t{1} << 62;

std::uint64_t spread(std::uint64_t x) noexcept {  // the end of splitmix64 (Steele, Lea and Flood, 2014)
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::vector<schedule_log::change> changes_in(const char* text) {
  std::vector<schedule_log::change> all;
  const char* at = text;
  const char* const end = text + std::strlen(text);
  // A number, and `next` behind it.
  const auto number = [&](std::uint64_t most, char next) {
    std::uint64_t read = 0;
    const auto [rest, error] = std::from_chars(at, end, read);
    if (error != std::errc() || read > most || (*rest != next && (next == '=' || rest != end)))
      schedule_chooser::refuse(text);
    at = rest == end ? end : rest + 1;
    return read;
  };
  while (at != end) {
    const std::uint64_t choice = number((std::uint64_t{1} << 48) - 1, '=');
    if (all.empty() ? choice == 0 : choice <= all.back().choice) schedule_chooser::refuse(text);
    all.push_back({choice, number(65535, ',')});
  }
  return all;
}

bool is_anything_to_take(scheduler& s) noexcept {
  if (s.dispatcher().any_ready()) return true;
  bool found = false;
  s.all().for_each(0, 1, [&](processor& p, deque_thief& d) {
    found = !p.queue.empty() || d.has_public();
    return !found;
  });
  return found;
}

}  // namespace

void schedule_chooser::refuse(const char* text) {
  throw std::invalid_argument(
      "forkjoin: the schedule is \"" + std::string(text) +
      "\"; set FORKJOIN_SCHEDULE to a seed from 1 on, perhaps with changes as fj::explore prints "
      "them (17:12=2,40=1), and fj::replay to such a seed and such changes");
}

std::string text_of(const std::vector<schedule_log::change>& changes) {
  std::string text;
  for (const schedule_log::change& each : changes) {
    if (!text.empty()) text += ',';
    text += std::to_string(each.choice);
    text += '=';
    text += std::to_string(each.thread);
  }
  return text;
}

schedule_chooser::schedule_chooser(const replay& wanted, schedule_log& log, full_schedule_log* kept)
    : seed_(wanted.seed), has_list_(wanted.changes != nullptr), dice_(wanted.seed), log_(log), kept_(kept) {
  if (has_list_) list_ = changes_in(wanted.changes);
  constexpr std::array<std::uint32_t, 4> all_stays{0, 4, 5, 6};
  stays_in_8_ = all_stays[seed_ / 2 % all_stays.size()];
  falls_ = 1 + dice_.below(3);
  points_a_fall_ = 2u << 2 * dice_.below(4);  // 2, 8, 32, 128: it is not known how many points the program has
}

schedule_chooser::taker& schedule_chooser::choose(taker& first, cause why) noexcept {
  if (!holder_) holder_ = os::turns::self();
  note_holder();
  points_in_row_ = why == cause::point ? points_in_row_ + 1 : 0;
  if (points_in_row_ > most_points_in_row) {
    points_in_row_ = 0;
    why = cause::pause;
  }
  taker& expected = usual(first, why);
  taker* chosen = &expected;
  if (has_list_) {
    if (taker* const t = listed(first)) chosen = t;
  } else {
    chosen = &(is_chaotic(seed_) ? at_random(first, why) : by_priority(first, why));
  }
  if (chosen != holder_) points_in_row_ = 0;
  keep(*chosen, why, chosen == &expected);
  return *(holder_ = chosen);
}

void schedule_chooser::note_holder() noexcept {
  if (threads_.size() <= holder_->number) threads_.resize(holder_->number + 1);
  worker* const m = current_worker();
  const fiber* const f = m ? current_fiber() : nullptr;
  threads_[holder_->number] = {m, f ? std::uint64_t{f->number} : 0};
}

void schedule_chooser::keep(const taker& chosen, cause why, bool is_usual) noexcept {
  const std::uint64_t choice = log_.choices.load(std::memory_order_relaxed) + 1;
  const std::uint64_t strand = threads_[holder_->number].strand;
  log_.choices.store(choice, std::memory_order_relaxed);
  log_.hash.store(spread(log_.hash.load(std::memory_order_relaxed) + 1 + chosen.number +
                         (static_cast<std::uint64_t>(why) << 16) + (strand << 18)),
                  std::memory_order_relaxed);
  if (!kept_) return;
  if (!is_usual) {
    const std::uint64_t n = log_.changes.load(std::memory_order_relaxed);
    if (n < schedule_log::room) kept_->list[n] = {choice, static_cast<std::uint16_t>(chosen.number)};
    log_.changes.store(n + 1, std::memory_order_relaxed);
  }
  if (choice != kept_->most_choices) return;
  os::print_error("forkjoin: the schedule has no end: ");
  os::print_error(static_cast<unsigned long>(choice));
  os::print_error(" choices were made\n");
  std::abort();
}

// The holder, where it could go on; else the next one after it.
schedule_chooser::taker& schedule_chooser::usual(taker& first, cause why) noexcept {
  if (why == cause::point) return *holder_;
  for (taker* t = holder_->next; t; t = t->next)
    if (t->can_go_on()) return *t;
  taker* t = &first;
  while (!t->can_go_on()) t = t->next;
  return *t;
}

// One of those that can go on; not `but`, if there is another.
schedule_chooser::taker& schedule_chooser::one_of(taker& first, const taker* but) noexcept {
  std::uint32_t count = 0;
  for (const taker* t = &first; t; t = t->next) count += t->can_go_on() && t != but;
  if (count == 0) return one_of(first, nullptr);
  std::uint32_t n = dice_.below(count);
  for (taker* t = &first;; t = t->next)
    if (t->can_go_on() && t != but && n-- == 0) return *t;
}

schedule_chooser::taker& schedule_chooser::at_random(taker& first, cause why) noexcept {
  if (why == cause::point && dice_.below(8) < stays_in_8_) return *holder_;
  return one_of(first, why == cause::point ? nullptr : holder_);
}

schedule_chooser::taker& schedule_chooser::by_priority(taker& first, cause why) noexcept {
  const std::uint64_t strand = threads_[holder_->number].strand;
  bool any_other = false;
  for (const taker* t = &first; t; t = t->next)
    any_other = any_other || (t != holder_ && t->can_go_on() && has_something_to_do(*t));
  const bool falls = why == cause::point && any_other && falls_ != 0 && dice_.below(points_a_fall_) == 0;
  falls_ -= falls;
  if (strand != 0 && (falls || why == cause::pause)) fallen_[strand] = --lowest_;
  if (why != cause::point && dice_.below(choices_a_fair_one) == 0) return one_of(first, holder_);
  taker* best = nullptr;
  for (taker* t = &first; t; t = t->next)
    if (t->can_go_on() && has_something_to_do(*t) && (!best || priority(*t) > priority(*best))) best = t;
  return best ? *best : one_of(first, holder_);
}

// A worker that has found something to take goes first: so a strand has a thread as soon as there is one.
std::int64_t schedule_chooser::priority(const taker& t) const noexcept {
  const std::uint64_t strand = t.number < threads_.size() ? threads_[t.number].strand : 0;
  if (strand == 0) return first_of_all - t.number;
  if (const auto found = fallen_.find(strand); found != fallen_.end()) return found->second;
  return static_cast<std::int64_t>(spread(seed_ * 0x9e3779b97f4a7c15u + strand) >> 2);
}

bool schedule_chooser::has_something_to_do(const taker& t) const noexcept {
  if (t.number >= threads_.size()) return true;
  const thread_state& of = threads_[t.number];
  return !of.as || of.strand != 0 || is_anything_to_take(of.as->sched());
}

schedule_chooser::taker* schedule_chooser::listed(taker& first) noexcept {
  const std::uint64_t choice = log_.choices.load(std::memory_order_relaxed) + 1;
  if (next_in_list_ == list_.size() || list_[next_in_list_].choice != choice) return nullptr;
  const unsigned wanted = static_cast<unsigned>(list_[next_in_list_++].thread);
  for (taker* t = &first; t; t = t->next)
    if (t->number == wanted && t->can_go_on()) return t;
  ++not_made_;
  return nullptr;
}

namespace {

struct shared_session {
  os::mutex mutex;
  unsigned users = 0;
  std::optional<schedule_log> own_log;
  const schedule_log* log = nullptr;
  std::optional<schedule_chooser> chooser;
  std::optional<os::turns> turns;
};

// Never destroyed, as the default runtime is not; and there before any object that makes a runtime.
union kept_session {
  constexpr kept_session() noexcept : it() {}
  ~kept_session() {}
  shared_session it;
};
constinit kept_session kept;

shared_session& the_session() noexcept { return kept.it; }

// The copy that fork(2) makes has no thread that takes turns, and none that would unlock the mutex.
[[maybe_unused]] const bool begins_anew = os::at_fork(nullptr, nullptr, [] { std::construct_at(&kept.it); });

}  // namespace

// A runtime without a schedule takes part, too, if it is made by a thread that has one.
schedule_session::schedule_session(const replay& wanted, full_schedule_log* kept)
    : counts_(wanted.seed != 0 || (os::turns::self() && the_session().users != 0)) {
  if (!counts_) return;
  shared_session& session = the_session();
  const locked lock(session.mutex);
  if (session.users == 0) {
    schedule_log& log = kept ? *kept : session.own_log.emplace();
    session.chooser.emplace(wanted, log, kept);
    session.log = &log;
    pause_watch(true);
    session.turns.emplace(&schedule_chooser::next, &*session.chooser, os::now_ns());
  } else if (!os::turns::self()) {
    throw std::logic_error(
        "forkjoin: options::schedule or FORKJOIN_SCHEDULE repeats what one thread does with its runtimes, and another "
        "thread has begun; make this runtime without a schedule, or by that thread");
  }
  ++session.users;
}

schedule_session::~schedule_session() {
  if (!counts_) return;
  shared_session& session = the_session();
  const locked lock(session.mutex);
  if (--session.users != 0) return;
  if (session.own_log && session.chooser->changes_not_made() != 0)
    os::print_error(
        "forkjoin: not all changes that the schedule lists could be made: the program, its input or the number of Ps "
        "is "
        "not that of the run that printed it\n");
  session.turns.reset();
  pause_watch(false);
  session.chooser.reset();
}

const schedule_log* schedule_session::log() noexcept { return the_session().log; }

}}}  // namespace fj::v0_4::detail
