#include "runtime/os/turns.hpp"

#include <algorithm>
#include <cstdlib>

#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/os/memory_fault.hpp"
#include "runtime/os/system_futex.hpp"
#include "runtime/os/thread.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace os {

constinit std::atomic<turns*> turns_taken{nullptr};

namespace {

constexpr std::int64_t turn_ns = 1'000;

thread_local turns::taker* this_taker = nullptr;

void sleep_until_called(turns::taker& t) noexcept {
  // acquire: pairs with the release in call, so that all is there that was done in the turns before
  while (t.called.exchange(0, std::memory_order_acquire) == 0) system_futex_wait(t.called, 0);
}

void call(turns::taker& t) noexcept {
  // release: pairs with the acquire in sleep_until_called
  t.called.store(1, std::memory_order_release);
  system_futex_wake(t.called);
}

// In the copy that fork(2) makes the other threads are missing.
[[maybe_unused]] const bool ends_in_copies = at_fork(nullptr, nullptr, [] { turns::forget(); });

}  // namespace

turns::turns(choice next, void* context, std::int64_t begins_ns) : next_(next), context_(context), now_(begins_ns) {
  this_taker = &begin();
  // relaxed: only threads read it that take turns; those begin later, by this one
  turns_taken.store(this, std::memory_order_relaxed);
}

turns::~turns() {
  forget();
  while (taker* const t = first_) {
    first_ = t->next;
    delete t;
  }
}

turns::in_order::in_order(turns& all) noexcept : all_(all) { happens_after(&all_); }
turns::in_order::~in_order() { happens_before(&all_); }

void turns::forget() noexcept {
  turns_taken.store(nullptr, std::memory_order_relaxed);
  this_taker = nullptr;
}

turns::taker* turns::self() noexcept { return this_taker; }

bool takes_turns_slow() noexcept { return this_taker; }
// relaxed: the thread takes turns, so that they began before it
std::int64_t counted_ns() noexcept { return turns_taken.load(std::memory_order_relaxed)->now_ns(); }

std::int64_t turns::now_ns() noexcept {
  const in_order mine(*this);
  return now_ += 50;
}

void turns::give_up(cause why) noexcept {
  const in_order mine(*this);
  now_ += turn_ns;
  go_on_with_next(this_taker, why);
}

bool turns::sleep(const void* word, std::int64_t until) noexcept {
  const in_order of_strand(*this);
  taker& mine = *this_taker;
  mine.awaits = word;
  mine.until = until;
  mine.timed_out = false;
  go_on_with_next(&mine, cause::sleep);
  return !mine.timed_out;
}

void turns::wake(const void* word) noexcept {
  const in_order mine(*this);
  taker* t = first_;
  while (t && t->awaits != word) t = t->next;
  if (t) t->awaits = nullptr;
}

// `giver`: the calling thread; nullptr if it ends.
void turns::go_on_with_next(taker* giver, cause why) noexcept {
  end_sleeps();
  taker& next = next_(context_, *first_, why);
  if (&next == giver) return;
  happens_before(this);
  call(next);
  if (giver) sleep_until_called(*giver);
  happens_after(this);
}

// Of those whose time has come. If none can go on, it is the time of the first that will.
void turns::end_sleeps() noexcept {
  std::int64_t earliest = never;
  bool any = false;
  for (const taker* t = first_; t; t = t->next) {
    any |= t->can_go_on();
    if (t->awaits) earliest = std::min(earliest, t->until);
  }
  if (!any && earliest == never) {
    print_error("forkjoin: the threads take turns, and each of them sleeps until another one wakes it\n");
    std::abort();
  }
  if (!any) now_ = std::max(now_, earliest);
  for (taker* t = first_; t; t = t->next) {
    if (!t->awaits || t->until > now_) continue;
    t->awaits = nullptr;
    t->timed_out = true;
  }
}

turns::taker& turns::begin() {
  const in_order mine(*this);
  auto* const t = new taker{.number = last_ ? last_->number + 1 : 0};
  (last_ ? last_->next : first_) = t;
  return *(last_ = t);
}

// It has not the turn yet, so it reads nothing of others.
void turns::arrive(taker& t) noexcept {
  this_taker = &t;
  sleep_until_called(t);
}

void turns::refused(taker& t) noexcept {
  const in_order mine(*this);
  t.ended = true;
}

void turns::await_end(const taker& t) noexcept {
  for (happens_after(this); !t.ended; happens_after(this)) sleep(&t, never);
}

void turns::leave() noexcept {
  happens_after(this);
  this_taker->ended = true;
  wake(this_taker);
  this_taker = nullptr;
  go_on_with_next(nullptr, cause::sleep);
}

}}}}  // namespace fj::v0_4::detail::os
