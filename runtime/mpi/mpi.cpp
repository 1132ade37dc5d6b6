// Waits for requests of MPI.
//
// One lock orders all calls of MPI. A wait takes it, asks once, and if the request has not completed puts it into the
// list of its runtime's poller. The poller is a fiber, which the first wait starts, and which ends when its list is
// empty: so a runtime whose strands do not wait for MPI has no poller, and the end of a runtime waits for none. A
// thread outside of any runtime polls by itself, and so does a strand for whose wait there is no memory: to throw would
// leave an operation that goes on, and uses buffers that are gone.
//
// A wait lies in the frame of the call. The poller touches it under the lock only, until it claims it. Exactly one
// claims the end of a wait (forkjoin/abi/waiter.hpp): the poller when enough requests have completed, the time, or the
// stop. A strand whose wait the time or the stop has ended takes the lock and removes its requests from the list. Then
// it looks whether they have completed all the same.
#include "forkjoin/mpi.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <unordered_map>

#include "forkjoin/go/condition_variable.hpp"
#include "forkjoin/go/future.hpp"
#include "forkjoin/go/sleep.hpp"

namespace fj { inline namespace v0_4 {

namespace detail {

namespace {

using namespace std::chrono_literals;

// --- how often the poller asks ---

// For so long after something has happened it only gives way between two looks. As long as a short message takes
// between two machines, some times over: the answer to it is often as near.
constexpr auto brief = 50us;
// Then it pauses, each time for an eighth of the time in which nothing has happened: that late a message is noticed at
// most. The longest pause keeps a rank whose strands all wait below 3 % of a CPU: a pause costs some 200 us of CPU
// time, which workers take to look for work before they sleep (2 P, Debian 12 in a virtual machine).
constexpr int silence_per_pause = 8;
constexpr std::chrono::nanoseconds longest_pause = 16ms;
// A look at thousands of requests takes long, and is followed by a pause as many times as long, for the same 3 %.
constexpr int pause_per_look = 32;
// A look that takes so long, and so many times as long as the fastest, has moved data: the next may find more to move.
constexpr std::chrono::nanoseconds shortest_move = 2us;
constexpr int looks_per_move = 4;

// The pauses of what polls.
class pace {
 public:
  void restart() noexcept {
    calm_since_ = now();
    fastest_ = std::chrono::nanoseconds::max();  // that of another list
  }
  /// How long to pause after a look that took so long; 0: only give way.
  std::chrono::nanoseconds after(std::chrono::nanoseconds look) noexcept {
    // The fastest: a look that the system interrupts says nothing.
    fastest_ = (std::min)(fastest_, look);
    const bool moved_data = fastest_ < shortest_move && look > (std::max)(shortest_move, looks_per_move * fastest_);
    // The first look after a pause is slow by itself: so it is followed by another one, and that one counts.
    if (moved_data && !paused_) calm_since_ = now();
    const std::chrono::nanoseconds silence = now() - calm_since_;
    paused_ = silence > brief && !(moved_data && paused_);
    if (paused_) return (std::max)((std::min)(silence / silence_per_pause, longest_pause), pause_per_look * fastest_);
    // The lock is free for at least half of the time.
    return fastest_ > brief ? fastest_ : 0ns;
  }
  /// Whether the last pause ends if a request is added. Not if a look takes long: thousands that come one by one would
  /// each cause one.
  bool may_be_woken() const noexcept { return paused_ && fastest_ < brief; }

 private:
  std::chrono::steady_clock::time_point calm_since_ = now();
  std::chrono::nanoseconds fastest_ = std::chrono::nanoseconds::max();
  bool paused_ = false;
};

// --- errors ---

// MPICH takes the error of a request to MPI_COMM_WORLD or MPI_COMM_SELF, whatever the request's communicator, and there
// errors end the job by default. So while there is a session these two have a handler that lets errors of our own
// questions return, and hands all others to the handler that was there before.

std::atomic<bool> asks{false};  // set under mpi_lock

class asking {
 public:
  asking() noexcept { asks.store(true, std::memory_order_relaxed); }
  ~asking() { asks.store(false, std::memory_order_relaxed); }
  asking(const asking&) = delete;
  asking& operator=(const asking&) = delete;
};

class error_handlers {
 public:
  static void install() noexcept {
    MPI_Errhandler ours = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(handle, &ours);
    for (handled& each : all()) {
      MPI_Comm_get_errhandler(each.where, &each.before);
      MPI_Comm_set_errhandler(each.where, ours);
    }
    MPI_Errhandler_free(&ours);
  }
  static void remove() noexcept {
    for (handled& each : all()) {
      MPI_Comm_set_errhandler(each.where, each.before);
      MPI_Errhandler_free(&each.before);
    }
  }

 private:
  struct handled {
    MPI_Comm where;
    MPI_Errhandler before;
  };
  static std::span<handled> all() noexcept {
    static handled both[] = {{MPI_COMM_WORLD, MPI_ERRHANDLER_NULL}, {MPI_COMM_SELF, MPI_ERRHANDLER_NULL}};
    return both;
  }
  static void handle(MPI_Comm* of, int* code, ...) noexcept {
    if (asks.load(std::memory_order_relaxed)) return;
    const MPI_Comm where = *of;
    for (const handled& each : all()) {
      if (each.where != where) continue;
      MPI_Errhandler ours = MPI_ERRHANDLER_NULL;
      MPI_Comm_get_errhandler(where, &ours);
      MPI_Comm_set_errhandler(where, each.before);
      MPI_Comm_call_errhandler(where, *code);
      MPI_Comm_set_errhandler(where, ours);
      MPI_Errhandler_free(&ours);
    }
  }
};

// --- what waits ---

// One call that waits for some requests.
struct mpi_waiting {
  std::span<MPI_Request> requests;
  MPI_Status* statuses;
  std::size_t missing;  // so many must complete still
  std::size_t last;
  bool is_any;               // one is enough: no other may complete
  int code = MPI_SUCCESS;    // of the first that failed
  waiter* strand = nullptr;  // nullptr: it asks by itself
};

// Returns whether it has completed.
bool complete(mpi_waiting& w, std::size_t number, MPI_Request request, const MPI_Status& status, int code) noexcept {
  w.requests[number] = request;  // MPI_REQUEST_NULL, unless it is a persistent one
  w.statuses[number] = status;
  w.last = number;
  if (code != MPI_SUCCESS && w.code == MPI_SUCCESS) w.code = code;
  return --w.missing == 0;
}

// Asks for each request once, until enough have completed.
void ask_each(mpi_waiting& w) noexcept {
  const asking meanwhile;
  for (std::size_t i = 0; i < w.requests.size() && w.missing != 0; ++i) {
    if (w.requests[i] == MPI_REQUEST_NULL) continue;
    int done = 0;
    MPI_Status status;
    MPI_Request asked = w.requests[i];
    const int code = MPI_Test(&asked, &done, &status);
    if (done || code != MPI_SUCCESS) complete(w, i, asked, status, code);
  }
}

// The requests that one poller looks at.
class mpi_list {
 public:
  bool empty() const noexcept { return requests_.empty() && any_.empty(); }

  /// Throws std::bad_alloc; then the list is as before.
  void add(mpi_waiting& w) {
    if (w.is_any) return any_.push_back(&w);
    const std::size_t wanted = requests_.size() + w.requests.size();
    if (wanted > statuses_.capacity()) {  // the last one that grows
      const std::size_t room = 2 * wanted;
      requests_.reserve(room);
      of_.reserve(room);
      done_.reserve(room);
      statuses_.reserve(room);
    }
    for (std::size_t i = 0; i < w.requests.size(); ++i) {
      if (w.requests[i] == MPI_REQUEST_NULL) continue;
      requests_.push_back(w.requests[i]);
      of_.push_back({&w, i});
    }
  }

  void remove(const mpi_waiting& w) noexcept {
    std::erase(any_, &w);
    if (!w.is_any) keep_if([&](std::size_t i) { return of_[i].waiting != &w; });
  }

  /// Asks MPI once, and wakes those whose wait has ended. Whether any request has completed.
  bool look() noexcept {
    const bool one = look_at_any();
    return look_at_all() || one;
  }

 private:
  struct place {
    mpi_waiting* waiting;  // nullptr: the request has completed
    std::size_t number;    // among the requests of that
  };

  bool look_at_all() noexcept {
    if (requests_.empty()) return false;
    done_.resize(requests_.size());
    statuses_.resize(requests_.size());
    int n = 0;
    const asking meanwhile;
    const int code =
        MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &n, done_.data(), statuses_.data());
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) {
      fail_all(code);
      return true;
    }
    if (n <= 0) return false;
    for (int k = 0; k < n; ++k) {
      const auto i = static_cast<std::size_t>(done_[static_cast<std::size_t>(k)]);
      const MPI_Status& status = statuses_[static_cast<std::size_t>(k)];
      end(i, status, code == MPI_ERR_IN_STATUS ? status.MPI_ERROR : MPI_SUCCESS);
    }
    keep_if([&](std::size_t i) { return of_[i].waiting != nullptr; });
    return true;
  }
  // One by one, because MPI_Testsome would complete several of one wait.
  bool look_at_any() noexcept {
    const std::size_t before = any_.size();
    std::erase_if(any_, [](mpi_waiting* w) {
      ask_each(*w);
      if (w->missing != 0) return false;
      wake(*w);
      return true;
    });
    return any_.size() != before;
  }

  static void wake(mpi_waiting& w) noexcept {
    if (w.strand && w.strand->claim(0)) w.strand->wake(precedence::soon);
  }
  void end(std::size_t i, const MPI_Status& status, int code) noexcept {
    mpi_waiting& w = *std::exchange(of_[i].waiting, nullptr);
    if (complete(w, of_[i].number, requests_[i], status, code)) wake(w);
  }
  // MPI refuses the list as a whole: an error that it gives to none of the requests.
  void fail_all(int code) noexcept {
    for (std::size_t i = 0; i < of_.size(); ++i) end(i, MPI_Status{}, code);
    keep_if([](std::size_t) { return false; });
  }
  template <class F>
  void keep_if(F f) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < of_.size(); ++i) {
      if (!f(i)) continue;
      requests_[kept] = requests_[i];
      of_[kept++] = of_[i];
    }
    requests_.resize(kept);
    of_.resize(kept);
  }

  std::vector<MPI_Request> requests_;
  std::vector<place> of_;
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
  std::vector<mpi_waiting*> any_;
};

// --- the poller of a runtime ---

struct mpi_poller {
  scheduler* of;
  mpi_list list = {};
  condition_variable added = {};
  bool pauses = false;  // added is to be told
};

std::vector<std::unique_ptr<mpi_poller>>& pollers() {  // under mpi_lock
  // Never destroyed: at the end of the process a poller of the default runtime may still pause. (Tried with a static
  // object: the case `lost` of the tests crashes in one run of four.)
  static auto& all = *new std::vector<std::unique_ptr<mpi_poller>>;
  return all;
}

// Also without memory for a wait: then its P waits, too.
void pause_for(std::chrono::nanoseconds pause) {
  try {
    sleep_for(pause);
  } catch (const std::bad_alloc&) {
    std::this_thread::sleep_for(pause);
  }
}

// Likewise.
void lock_surely(std::unique_lock<mutex>& lock) {
  for (;;) {
    try {
      return lock.lock();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(brief);
    }
  }
}

void poll(mpi_poller& p) {
  std::unique_lock held(mpi_lock(), std::defer_lock);
  lock_surely(held);
  pace pauses;
  for (;;) {
    if (p.list.empty()) {
      // What it has just woken may wait again at once.
      held.unlock();
      yield();
      lock_surely(held);
      if (p.list.empty()) break;
    }
    const auto begin = now();
    const bool some = p.list.look();
    const std::chrono::nanoseconds look = now() - begin;
    if (some) pauses.restart();
    const std::chrono::nanoseconds pause = pauses.after(look);
    if (pause == 0ns) {
      held.unlock();
      yield();
      lock_surely(held);
    } else {
      p.pauses = pauses.may_be_woken();
      try {
        if (p.added.wait_for(held, pause) == std::cv_status::no_timeout) pauses.restart();
      } catch (const std::bad_alloc&) {
        held.unlock();
        pause_for(pause);
        lock_surely(held);
      }
      p.pauses = false;
    }
  }
  std::erase_if(pollers(), [&](const auto& each) { return each.get() == &p; });
}

// The poller of that runtime, in which the caller runs. Under mpi_lock.
mpi_poller& poller_of(scheduler& s) {
  auto& all = pollers();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each->of == &s; });
  if (found != all.end()) return **found;
  all.push_back(std::make_unique<mpi_poller>(&s));
  mpi_poller& made = *all.back();
  try {
    static_cast<void>(fj::go({.urgent = true}, [&made] { poll(made); }));
  } catch (...) {
    all.pop_back();
    throw;
  }
  return made;
}

// --- messages ---

std::string in_words(const mpi_operation& of) {
  std::string text = of.call;
  if (of.peer == MPI_UNDEFINED) return text;
  const bool receives = text.ends_with("receive");
  text += receives ? " from " : " to ";
  text += of.peer == MPI_ANY_SOURCE ? "any rank" : "rank " + std::to_string(of.peer);
  return text + (of.tag == MPI_ANY_TAG ? ", any tag" : ", tag " + std::to_string(of.tag));
}

std::string with_place(const mpi_operation& of) {
  return in_words(of) + ", at " + of.at.file_name() + ":" + std::to_string(of.at.line());
}

// The name of a wait in reports. Another thread may read it at any time, also when the wait has ended: so names are
// kept for good. A program that uses ever new tags gets the name of the call alone in the end, as does one without
// memory. Under mpi_lock.
const char* kept_name(const mpi_operation& of) noexcept {
  constexpr std::size_t most = 4096;
  if (of.peer == MPI_UNDEFINED) return of.call;
  struct key {
    const char* call;
    int peer, tag;
    bool operator==(const key&) const = default;
  };
  struct hash {
    std::size_t operator()(const key& k) const noexcept {
      return std::hash<const void*>()(k.call) ^ static_cast<std::size_t>(k.peer) * 0x9e3779b97f4a7c15 ^
             static_cast<std::size_t>(k.tag) * 0xc2b2ae3d27d4eb4f;
    }
  };
  try {
    static auto& names = *new std::unordered_map<key, std::string, hash>;
    const key k{of.call, of.peer, of.tag};
    if (const auto found = names.find(k); found != names.end()) return found->second.c_str();
    return names.size() < most ? names.emplace(k, in_words(of)).first->second.c_str() : of.call;
  } catch (const std::bad_alloc&) {
    return of.call;
  }
}

std::string what_mpi_says(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

// Of sessions. Under mpi_lock.
int sessions = 0;

// --- waits ---

// Nothing if the caller runs in no runtime, or if there is no memory.
std::optional<wait_end> wait_for_poller(mpi_waiting& w, std::unique_lock<mutex>& held, const mpi_operation& of,
                                        const wait_options& options) try {
  scheduler* const here = current_scheduler();
  if (!here) return std::nullopt;
  mpi_poller& p = poller_of(*here);  // before the waiter: go may give way
  wait_limits limits = limits_of(options, kept_name(of));
  limits.place.ended_by_others = true;
  waiter strand(limits);
  p.list.add(w);  // the last that may throw
  w.strand = &strand;
  if (std::exchange(p.pauses, false)) p.added.notify_one();
  held.unlock();
  const wait_end by = wait_winners::end_by(strand.wait());
  if (by == wait_end::served) return by;
  lock_surely(held);
  // The poller may have completed all since the limit claimed the wait, and have ended: then nothing of w is in its
  // list.
  if (w.missing == 0) return wait_end::served;
  p.list.remove(w);
  return by;
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

wait_end wait_by_itself(mpi_waiting& w, std::unique_lock<mutex>& held, const wait_options& options) {
  pace pauses;
  for (;;) {
    const auto begin = now();
    ask_each(w);
    held.unlock();
    if (w.missing == 0) return wait_end::served;
    if (options.stop && options.stop->stop_requested()) return wait_end::stopped;
    if (now() >= options.until.time()) return wait_end::timed_out;
    pause_for((std::min)(pauses.after(now() - begin), std::chrono::nanoseconds(options.until.time() - now())));
    lock_surely(held);
  }
}

}  // namespace

mutex& mpi_lock() noexcept {
  static mutex& lock = *new mutex;  // never destroyed, either
  return lock;
}

void mpi_check(int code, const mpi_operation& of) {
  if (code == MPI_SUCCESS) return;
  const std::lock_guard alone(mpi_lock());
  throw mpi::error(with_place(of) + ": " + what_mpi_says(code), code);
}

mpi_end mpi_wait(std::span<MPI_Request> requests, MPI_Status* statuses, bool is_any, const mpi_operation& of,
                 const wait_options& options) {
  std::unique_lock held(mpi_lock(), std::defer_lock);
  lock_surely(held);
  if (sessions == 0)
    throw std::logic_error(std::string(of.call) + ": there is no fj::mpi::session; make one in main, and keep it");
  const auto active = static_cast<std::size_t>(
      std::count_if(requests.begin(), requests.end(), [](MPI_Request r) { return r != MPI_REQUEST_NULL; }));
  mpi_waiting w{requests, statuses, is_any ? (std::min)(active, std::size_t{1}) : active, requests.size(), is_any};
  ask_each(w);
  wait_end by = wait_end::served;
  if (w.missing != 0) {
    const std::optional<wait_end> polled = wait_for_poller(w, held, of, options);
    by = polled ? *polled : wait_by_itself(w, held, options);
  }
  if (held.owns_lock()) held.unlock();
  mpi_check(w.code, of);
  return {by, w.last};
}

MPI_Status mpi_finish(MPI_Request request, const mpi_operation& of, const wait_options& options) {
  MPI_Status status;
  const wait_end by = mpi_wait({&request, 1}, &status, false, of, options).by;
  if (by == wait_end::served) return status;
  throw mpi::unfinished(with_place(of) + (by == wait_end::stopped ? ": asked to stop" : ": the time is up") +
                            ", and MPI cannot take the operation back; keep its buffers, and wait for the request of "
                            "this exception",
                        request);
}

MPI_Status mpi_finish_receive(MPI_Request request, const mpi_operation& of, const wait_options& options) {
  MPI_Status status;
  const wait_end by = mpi_wait({&request, 1}, &status, false, of, options).by;
  if (by == wait_end::served) return status;
  {
    std::unique_lock alone(mpi_lock(), std::defer_lock);
    lock_surely(alone);
    MPI_Cancel(&request);
  }
  // Without a limit: MPI promises that this ends, by the cancellation, or by the message that has come before it.
  static_cast<void>(mpi_wait({&request, 1}, &status, false, of, {.at = of.at}));
  int cancelled = 0;
  {
    std::unique_lock alone(mpi_lock(), std::defer_lock);
    lock_surely(alone);
    MPI_Test_cancelled(&status, &cancelled);
  }
  if (cancelled) throw_if_limited(by);
  return status;
}

}  // namespace detail

namespace mpi {

MPI_Status wait(MPI_Request& request, wait_options options) {
  MPI_Status status{};
  const detail::mpi_operation of{.call = "fj::mpi::wait", .at = options.at};
  detail::throw_if_limited(detail::mpi_wait({&request, 1}, &status, false, of, options).by);
  return status;
}

std::vector<MPI_Status> wait_all(std::span<MPI_Request> requests, wait_options options) {
  std::vector<MPI_Status> statuses(requests.size());
  const detail::mpi_operation of{.call = "fj::mpi::wait_all", .at = options.at};
  detail::throw_if_limited(detail::mpi_wait(requests, statuses.data(), false, of, options).by);
  return statuses;
}

completed wait_any(std::span<MPI_Request> requests, wait_options options) {
  std::vector<MPI_Status> statuses(requests.size());
  const detail::mpi_operation of{.call = "fj::mpi::wait_any", .at = options.at};
  const detail::mpi_end end = detail::mpi_wait(requests, statuses.data(), true, of, options);
  detail::throw_if_limited(end.by);
  return {end.last, end.last < requests.size() ? statuses[end.last] : MPI_Status{}};
}

session::session(session_options options, std::source_location at) {
  const std::lock_guard alone(detail::mpi_lock());
  const auto check = [&](const char* call, int code) {
    if (code != MPI_SUCCESS) {
      const detail::mpi_operation of{.call = call, .at = at};
      throw error(detail::with_place(of) + ": " + detail::what_mpi_says(code), code);
    }
  };
  int initialized = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialized);
  const int wanted = (std::max)(options.threads, +MPI_THREAD_SERIALIZED);
  if (!initialized) {
    check("MPI_Init_thread", MPI_Init_thread(nullptr, nullptr, wanted, &level));
    finalizes_ = true;
  }
  MPI_Query_thread(&level);
  if (level < wanted) {
    const auto name = [](int l) {
      return l == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
             : l == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
             : l == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                          : "MPI_THREAD_MULTIPLE";
    };
    if (finalizes_) MPI_Finalize();
    throw std::logic_error(std::string("fj::mpi::session: MPI runs with ") + name(level) + ", and strands need " +
                           name(wanted) +
                           ": a strand may change its thread. Ask MPI_Init_thread for that level, or let the session "
                           "initialize MPI");
  }
  check("MPI_Comm_dup", MPI_Comm_dup(options.communicator, &communicator_));
  check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN));
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &ranks_);
  if (detail::sessions++ == 0) detail::error_handlers::install();
}

session::~session() {
  if (std::uncaught_exceptions() > exceptions_) {
    std::fprintf(stderr, "forkjoin: an exception ends the fj::mpi::session of rank %d, and with it the job\n", rank_);
    MPI_Abort(communicator_, 1);
  }
  barrier();
  const std::lock_guard alone(detail::mpi_lock());
  for (int found = 1; found;) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_, &found, &message, &status) != MPI_SUCCESS || !found)
      break;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    std::fprintf(stderr, "forkjoin: rank %d has never received a message of %d bytes from rank %d, tag %d\n", rank_,
                 size, status.MPI_SOURCE, status.MPI_TAG);
    std::vector<std::byte> room(static_cast<std::size_t>((std::max)(size, 0)));
    MPI_Mrecv(room.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  }
  if (--detail::sessions == 0) detail::error_handlers::remove();
  MPI_Comm_free(&communicator_);
  if (finalizes_) MPI_Finalize();
}

}  // namespace mpi

}}  // namespace fj::v0_4
