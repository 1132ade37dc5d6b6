// The pool of roots that ranks hand one another.
//
// Who asks whom. A rank that waits for a root asks one other rank, chosen at random, which answers at once: with the
// oldest half of its roots, or with none. Then it asks its lifelines: the ranks that are 1, 2, 4, ... further. These
// owe it roots, and send some when they have any, also such as they have received themselves. So a rank asks no more
// than 1 + log2(ranks) others each time it runs out of roots, and then keeps silent; and because the lifelines connect
// all ranks, roots find every rank that waits. (Lifelines: Saraswat, Kambadur, Kodali, Grove and Krishnamoorthy, PPoPP
// 2011.)
//
// When all is over. A rank is quiet if it has no root, queued or begun: then only a message lets it do anything. Each
// rank counts the messages that it has sent and received. When it is quiet, it joins a reduction of these counts,
// again and again. If as many were sent by the second of two successive reductions as were received by the first, all
// is over: at the moment between the two all messages had been received, and none after a rank had joined the first,
// so every rank was quiet. All ranks learn that at once. (Four counters: Mattern, Distributed Computing 1987.) As all
// messages are counted, none is left when the communicator goes.
//
// Failures. A rank whose handler throws drops its roots, and tells all others, which do the same. Then the end comes as
// ever: handlers that run end, and no one asks any more.
//
// Three strands, all under lock_: the caller's, which begins roots; the one that receives messages; and the one that
// waits for the end. What can be done after a change is in changed(). Sends never wait, so receivers always receive.
#include "forkjoin/mpi.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "forkjoin/go/future.hpp"
#include "forkjoin/stop.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

// ask: for an answer, which may have no roots. lifeline: for a gift, which has some. stop: the text of an exception.
enum steal_pool_core::tag : int { ask, lifeline, answer, gift, stop };

namespace {

constexpr const char* name_of_run = "fj::mpi::steal_pool::run";
// One refusal at random says that many have no roots, and the lifelines serve as well.
constexpr int random_tries = 1;
// What other ranks are told of an exception.
constexpr std::size_t most_text = 1'024;

// Without this rank's messages the others would wait for ever.
template <class F>
void or_abort(int rank, F f) noexcept {
  try {
    f();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "forkjoin: an exception ends the %s of rank %d, and with it the job: %s\n", name_of_run, rank,
                 e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace

steal_pool_core::steal_pool_core(const mpi::session& of, const mpi::steal_pool_options& wanted)
    : mpi_(of), options_(wanted), random_(static_cast<unsigned>(of.rank()) + 1) {
  if (wanted.most_roots == 0)
    throw std::invalid_argument("fj::mpi::steal_pool: steal_pool_options::most_roots is 0; at least one root is kept");
  random_.discard(1);  // the first number is small where the seed is: all ranks would ask the next one
}

void steal_pool_core::run_until_end(function_ref<void()> begin_roots, std::span<const std::byte> mine,
                                    std::span<std::byte> all, std::source_location at) {
  const mpi_operation of{.call = name_of_run, .at = at};
  const auto finish = [&](auto start) { mpi_finish(mpi_.start(name_of_run, start, at), of, {.at = at}); };
  finish([&](MPI_Comm c, MPI_Request* r) { return MPI_Comm_idup(c, &communicator_, r); });
  at_ = at;
  stats_ = {};
  most_begun_ = options_.most_begun != 0 ? options_.most_begun : 2 * procs();
  or_abort(mpi_.rank(), [&] {
    {
      const std::lock_guard held(lock_);
      runs_ = true;
    }
    stop_source over;
    const stop_token is_over = over.get_token();
    auto server = fj::go([&] { or_abort(mpi_.rank(), [&] { serve(is_over); }); });
    auto end = fj::go([&] {
      or_abort(mpi_.rank(), [&] { wait_for_end(); });
      over.request_stop();
    });
    begin_roots();
    end.get();
    server.get();
    for (message_under_way& each : under_way_) mpi::wait(each.request, {.at = at});
  });
  under_way_.clear();
  owed_.clear();
  armed_ = 0;
  runs_ = over_ = false;
  const int failed = std::exchange(failed_rank_, -1);
  if (failed < 0) {
    finish([&](MPI_Comm, MPI_Request* r) {
      return MPI_Iallgather(mine.data(), mpi_count(mine.size()), MPI_BYTE, all.data(), mpi_count(mine.size()), MPI_BYTE,
                            communicator_, r);
    });
  }
  mpi_.call([&](MPI_Comm) { return MPI_Comm_free(&communicator_); });
  failed_ = false;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  if (failed >= 0)
    throw mpi::rank_failed(std::string(name_of_run) + ": rank " + std::to_string(failed) + " has thrown: " + failure_,
                           failed);
}

// --- roots ---

bool steal_pool_core::wait_for_root(std::unique_lock<mutex>& held) {
  if (size() == 0) {
    ++stats_.waits;
    tries_ = random_tries;
  }
  is_waiting_ = true;
  changed();
  root_or_end_.wait(held, [&] { return begins_next() || over_; }, {.at = at_});
  is_waiting_ = false;
  if (over_) return false;
  ++running_;
  ++stats_.begun;
  return true;
}

bool steal_pool_core::begins_next() const noexcept { return is_waiting_ && size() != 0 && running_ < most_begun_; }

void steal_pool_core::end_root() {
  const std::lock_guard held(lock_);
  --running_;
  changed();
}

void steal_pool_core::changed() {
  if (!runs_) return;
  if (failed_) clear();
  while (!owed_.empty()) {
    std::vector<std::byte> roots = pack_half();
    if (roots.empty()) break;
    send(owed_.front(), gift, std::move(roots));
    owed_.erase(owed_.begin());
  }
  if (begins_next()) return root_or_end_.notify_one();
  if (!is_waiting_ || size() != 0) return;
  if (!failed_ && running_ < most_begun_) ask_others();  // a full rank would hand on what it gets, and ask again
  if (is_quiet()) quiet_.notify_one();
}

std::vector<std::byte> steal_pool_core::pack_half() {
  std::vector<std::byte> message;
  const std::size_t spare = size() - begins_next();  // one is for this rank
  try {
    for (std::size_t n = ((std::min)(spare, options_.most_roots) + 1) / 2; n != 0 && pack_oldest(message); --n)
      ++stats_.given;
  } catch (...) {
    fail_here(caught_exception());
    message.clear();
  }
  return message;
}

// --- messages ---

void steal_pool_core::send(int to, tag kind, std::vector<std::byte> data) {
  or_abort(mpi_.rank(), [&] {
    mpi_.call([&](MPI_Comm) {
      std::erase_if(under_way_, [](message_under_way& each) {
        int done = 0;
        MPI_Test(&each.request, &done, MPI_STATUS_IGNORE);
        return done != 0;
      });
    });
    message_under_way& made = under_way_.emplace_back(std::move(data), MPI_REQUEST_NULL);
    made.request = mpi_.start(
        name_of_run,
        [&](MPI_Comm, MPI_Request* r) {
          return MPI_Isend(made.data.data(), mpi_count(made.data.size()), MPI_BYTE, to, kind, communicator_, r);
        },
        at_);
    ++sent_;
  });
}

void steal_pool_core::ask_others() {
  const int ranks = mpi_.ranks();
  if (asked_ || ranks == 1) return;
  if (tries_ > 0) {
    --tries_;
    asked_ = true;
    ++stats_.asked;
    const int further = std::uniform_int_distribution(1, ranks - 1)(random_);
    return send((mpi_.rank() + further) % ranks, ask);
  }
  for (int further = 1; further < ranks; further *= 2) {
    if (armed_ & further) continue;
    armed_ |= further;
    ++stats_.lifelines;
    send((mpi_.rank() + further) % ranks, lifeline);
  }
}

void steal_pool_core::serve(const stop_token& until) {
  const mpi_operation of{.call = name_of_run, .at = at_};
  std::vector<std::byte> room((std::max)(options_.message_size, most_text));
  try {
    for (;;) {
      const MPI_Request request = mpi_.start(
          name_of_run,
          [&](MPI_Comm, MPI_Request* r) {
            return MPI_Irecv(room.data(), mpi_count(room.size()), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_,
                             r);
          },
          at_);
      const MPI_Status status = mpi_finish_receive(request, of, {.stop = &until, .at = at_});
      int size = 0;
      mpi_.call([&](MPI_Comm) { MPI_Get_count(&status, MPI_BYTE, &size); });
      take_message(status.MPI_SOURCE, status.MPI_TAG, std::span(room).first(static_cast<std::size_t>(size)));
    }
  } catch (const cancelled&) {
    return;  // all is over
  }
}

void steal_pool_core::take_message(int from, int kind, std::span<const std::byte> message) {
  const std::lock_guard held(lock_);
  ++received_;
  switch (kind) {
    case ask:
      send(from, answer, pack_half());
      break;
    case lifeline:
      owed_.push_back(from);
      break;
    case stop:
      fail_by(from, {reinterpret_cast<const char*>(message.data()), message.size()});
      break;
    case answer:
      asked_ = false;
      break;
    case gift:
      armed_ &= ~((from - mpi_.rank() + mpi_.ranks()) % mpi_.ranks());
  }
  if ((kind == answer || kind == gift) && !message.empty()) {
    ++stats_.received;
    try {
      unpack_all(message);
    } catch (...) {
      fail_here(caught_exception());
    }
  }
  changed();
}

// --- the end ---

bool steal_pool_core::is_quiet() const noexcept { return is_waiting_ && size() == 0 && running_ == 0; }

void steal_pool_core::wait_for_end() {
  const mpi_operation of{.call = name_of_run, .at = at_};
  for (std::int64_t received_before = -1;;) {
    std::array<std::int64_t, 2> counts{};
    {
      std::unique_lock held(lock_);
      quiet_.wait(held, [&] { return is_quiet(); }, {.at = at_});
      counts = {sent_, received_};
    }
    const auto reduce = [&](MPI_Comm, MPI_Request* r) {
      return MPI_Iallreduce(MPI_IN_PLACE, counts.data(), 2, MPI_INT64_T, MPI_SUM, communicator_, r);
    };
    mpi_finish(mpi_.start(name_of_run, reduce, at_), of, {.at = at_});
    const auto [sent, received] = counts;
    if (sent == received_before) break;
    received_before = received;
  }
  const std::lock_guard held(lock_);
  over_ = true;
  root_or_end_.notify_one();
}

// --- failures ---

void steal_pool_core::fail(std::exception_ptr error) {
  const std::lock_guard held(lock_);
  fail_here(std::move(error));
  changed();
}

void steal_pool_core::fail_here(std::exception_ptr error) {
  if (!error_) error_ = error;
  if (failed_) return;  // all ranks know, or will
  const std::string text = text_of(error);
  fail_by(mpi_.rank(), text);
  const auto bytes = std::as_bytes(std::span(text)).first((std::min)(text.size(), most_text));
  for (int rank = 0; rank < mpi_.ranks(); ++rank)
    if (rank != mpi_.rank()) send(rank, stop, {bytes.begin(), bytes.end()});
}

void steal_pool_core::fail_by(int rank, std::string text) {
  clear();
  if (failed_.exchange(true)) return;
  failed_rank_ = rank;
  failure_ = std::move(text);
}

}}}  // namespace fj::v0_4::detail
