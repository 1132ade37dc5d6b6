#include "bench/simulate/timeline.hpp"

#include <new>
#include <utility>

#include "forkjoin/abi/os/race_detector.hpp"
#include "runtime/base/tuning.hpp"
#include "runtime/os/context/switch_context.hpp"
#include "runtime/os/memory/pages.hpp"

namespace simulate {

namespace os = fj::detail::os;

namespace {

constexpr std::size_t stack_bytes = 64 << 10;

// The stacks begin at different places of a page, or their first frames would all compete for the same lines of a
// cache.
std::size_t offset(unsigned index) noexcept { return index % 61 * 192; }

std::byte* reserve_stack() {
  std::byte* const stack = os::reserve_pages(os::round_to_pages(stack_bytes));
  if (!stack) throw std::bad_alloc();
  return stack;
}

}  // namespace

actor::actor(unsigned number) : index(number), stack_(reserve_stack()) {
  os::give_stack(context_, stack_, stack_bytes);
}

actor::~actor() {
  os::drop_context(context_);
  os::release_pages(stack_, os::round_to_pages(stack_bytes));
}

// A worker that stops working looks at another's deque, or announces that it parks, a look or some rounds later.
timeline::timeline(const prices& cost, unsigned processors, unsigned sockets, bool runs_ahead)
    : price(cost),
      before_(std::exchange(current_, this)),
      runs_ahead_(runs_ahead),
      lines_(cost, processors, sockets),
      lines_cost_(lines_.cost_anything()),
      agenda_(std::min<picoseconds>(cost.look, fj::detail::tuning::top_rounds * cost.round)) {}

void timeline::add(actor& fresh, os::context_entry entry, void* argument) {
  actors_.resize(std::max<std::size_t>(actors_.size(), fresh.index + 1));
  actors_[fresh.index] = &fresh;
  os::make_context(fresh.context_, fresh.stack_ + stack_bytes - offset(fresh.index), entry, argument);
}

bool timeline::run() {
  os::adopt_native_stack(outside_);
  if (!agenda_.empty()) {
    self_ = actors_[agenda_.take()];
    change(outside_, self_->context_);
  }
  return stopped_;
}

void timeline::get_line(const void* address, line_use how) noexcept {
  if (!self_) return;
  picoseconds time = lines_.wait(address, how, self_->index, self_->clock);
  if (time == 0) return;
  if (self_->looks && how == line_use::load) time /= price.misses;
  self_->clock += time;
  if (!self_->alone) await_turn();
}

// To ThreadSanitizer each stack is a thread, and a switch orders nothing.
void timeline::change(os::context& from, os::context& to) noexcept {
  os::happens_before(this);
  os::switch_context(from, to);
  begin();
}

void timeline::begin() const noexcept { os::happens_after(this); }

void timeline::wait() noexcept {
  actor& before = *self_;
  if (agenda_.empty()) {
    change(before.context_, outside_);
  } else {
    self_ = actors_[agenda_.take()];
    if (self_ != &before) change(before.context_, self_->context_);
  }
}

void timeline::stop() noexcept {
  stopped_ = true;
  change(self_->context_, outside_);
}

}  // namespace simulate
