// tbb::task_group_context, and what code belongs to which.
//
// A context is bound to the one of the code that uses it: what cancels that one cancels it, too. Nothing is passed down
// at a cancellation. The contexts count cancellations, in one number for the program; a context that finds it changed
// looks at those above it. So to ask is two loads, and to bind is a store.
#pragma once

#include "runtime.h"

#include <forkjoin/abi/scope.hpp>
#include <forkjoin/stop.hpp>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

namespace tbb {

class task_group_context;

namespace fj_detail {

/// A body that runs on this stack. It lies in a frame of a function that is not inlined; `floor` is the address of that
/// frame.
class body_frame {
 public:
  /// `group`: whose task it is.
  body_frame(task_group_context* context, const void* floor, const void* group = nullptr) noexcept
      : home_(fj::detail::current_fiber()), context_(context), floor_(floor), group_(group) {
    if (home_) outer_ = static_cast<body_frame*>(std::exchange(fj::detail::face_of(*home_).layer, this));
  }
  ~body_frame() {
    if (home_) fj::detail::face_of(*home_).layer = outer_;
  }
  body_frame(const body_frame&) = delete;
  body_frame& operator=(const body_frame&) = delete;

  /// The one that the calling code is in; nullptr: none, or a branch of the library's own fork_join that was stolen.
  static body_frame* innermost() noexcept {
    fj::detail::fiber* const here = fj::detail::current_fiber();
    return here ? static_cast<body_frame*>(fj::detail::face_of(*here).layer) : nullptr;
  }

  task_group_context* context() const noexcept { return context_; }
  const void* group() const noexcept { return group_; }

  /// Whether the object at that address lies in a frame that ends before the calling body does, and no fork is open
  /// that began in that body.
  static bool holds(std::uintptr_t object) noexcept {
    fj::detail::fiber* const here = fj::detail::current_fiber();
    if (!here) return false;
    const body_frame* const body = static_cast<body_frame*>(fj::detail::face_of(*here).layer);
    const auto bottom = reinterpret_cast<std::uintptr_t>(fj::detail::stack_bottom(*here));
    const auto top = reinterpret_cast<std::uintptr_t>(body ? body->floor_ : fj::detail::stack_top(*here));
    const auto inside = [&](std::uintptr_t at) { return at >= bottom && at < top; };
    return inside(object) && !inside(fj::detail::face_of(fj::detail::current_deque()).newest());
  }

 private:
  fj::detail::fiber* const home_;
  task_group_context* const context_;
  const void* const floor_;
  const void* const group_;
  body_frame* outer_ = nullptr;
};

/// The context of the calling code; nullptr: none.
inline task_group_context* current_context() noexcept {
  const body_frame* const body = body_frame::innermost();
  return body ? body->context() : nullptr;
}

/// How often a context of the program was cancelled.
alignas(64) inline std::atomic<std::uint64_t> cancellations{0};

/// Guards what contexts that others may use know of each other. Held for a few instructions.
inline std::mutex context_links;

struct own_context {};

}  // namespace fj_detail

class task_group_context {
 public:
  enum kind_type { isolated, bound };
  enum traits_type { fp_settings = 1 << 1, concurrent_wait = 1 << 2, default_traits = 0 };

  task_group_context(kind_type kind = bound, std::uintptr_t traits = default_traits)
      : kind_(kind), traits_(traits & (fp_settings | concurrent_wait)) {
    if (traits & fp_settings) capture_fp_settings();
  }
  /// Of one algorithm or group, and bound as long as it lives. `guest`: it may outlive the context of the calling code.
  explicit task_group_context(fj_detail::own_context, bool guest = false) : kind_(bound), traits_(default_traits) {
    task_group_context* const above = fj_detail::current_context();
    bind_to(above);
    if (!guest || !above) return;
    const std::scoped_lock held(fj_detail::context_links);
    become_guest();
  }
  ~task_group_context() {
    if (has_guests_.load(std::memory_order_relaxed)) drop_guests();
    if (at_) unbind();
  }
  task_group_context(const task_group_context&) = delete;
  task_group_context& operator=(const task_group_context&) = delete;

  /// True if neither this call nor one before it, also of a context that it is bound to, has cancelled it.
  bool cancel_group_execution() {
    if (is_group_execution_cancelled() || cancelled_.exchange(true, std::memory_order_relaxed)) return false;
    fj_detail::cancellations.fetch_add(1, std::memory_order_release);  // pairs with the acquire in the next function
    return true;
  }
  bool is_group_execution_cancelled() const {
    if (cancelled_.load(std::memory_order_relaxed)) return true;
    const std::uint64_t now = fj_detail::cancellations.load(std::memory_order_acquire);
    return seen_.load(std::memory_order_relaxed) != now && look_up(now);
  }
  /// Not while work runs in it. Several waits for a group may end at once, and each resets.
  void reset() {
    if (cancelled_.load(std::memory_order_relaxed)) {
      std::exception_ptr over;  // ends without the lock
      const std::scoped_lock held(fj_detail::context_links);
      std::swap(error_, over);
    }
    seen_.store(fj_detail::cancellations.load(std::memory_order_acquire), std::memory_order_relaxed);
    cancelled_.store(false, std::memory_order_relaxed);
  }

  /// Bodies in this context run with the floating-point settings of the calling code, those of bound contexts, too.
  void capture_fp_settings() {
    auto now = std::make_shared<std::fenv_t>();
    std::fegetenv(now.get());
    floats_ = std::move(now);
    traits_ |= fp_settings;
  }
  std::uintptr_t traits() const { return traits_; }

  // Of the algorithms.

  /// Whether a context that it is bound to, or a holder of a reference, might cancel it.
  bool may_be_cancelled() const noexcept { return users_.load(std::memory_order_relaxed) != 0 || parent_; }
  const std::fenv_t* floats() const noexcept { return floats_.get(); }

  /// A body has thrown: cancels the others, and keeps the exception if nothing has cancelled them before.
  void fail(std::exception_ptr error) {
    fj_detail::runtimes::all().may_end_at_exception();
    if (!cancel_group_execution()) return;
    const std::scoped_lock held(fj_detail::context_links);
    error_ = std::move(error);
  }
  /// After the work.
  std::exception_ptr error() const {
    if (!cancelled_.load(std::memory_order_relaxed)) return nullptr;
    const std::scoped_lock held(fj_detail::context_links);
    return error_;
  }

  /// For as long as an algorithm or a group uses it. It is bound to the context of the code that uses it first, unless
  /// that is none: then it stays isolated. `guest`: whether the use may outlast that context.
  void begin_use(bool guest) {
    const std::scoped_lock held(fj_detail::context_links);
    if (users_.fetch_add(1, std::memory_order_relaxed) != 0) return;
    if (kind_ == isolated) return;
    task_group_context* const above = fj_detail::current_context();
    if (!above) {
      kind_ = isolated;
      return;
    }
    bind_to(above);
    if (guest) become_guest();
  }
  void end_use() {
    static_cast<void>(is_group_execution_cancelled());  // the last look at what it was bound to
    const std::scoped_lock held(fj_detail::context_links);
    if (users_.fetch_sub(1, std::memory_order_relaxed) == 1) forget_parent();
  }

 private:
  void bind_to(task_group_context* above) noexcept {
    parent_ = above;
    seen_.store(fj_detail::cancellations.load(std::memory_order_acquire), std::memory_order_relaxed);
    if (!above) return;
    if (above->cancelled_.load(std::memory_order_relaxed)) cancelled_.store(true, std::memory_order_relaxed);
    if (above->seen_.load(std::memory_order_relaxed) != seen_.load(std::memory_order_relaxed))
      seen_.store(~std::uint64_t{0}, std::memory_order_relaxed);  // the next look goes up
    if (!floats_) floats_ = above->floats_;
  }

  void become_guest() noexcept {
    next_ = parent_->guests_;
    if (next_) next_->at_ = &next_;
    at_ = &parent_->guests_;
    *at_ = this;
    parent_->has_guests_.store(true, std::memory_order_relaxed);
  }
  void leave_guests() noexcept {
    *at_ = next_;
    if (next_) next_->at_ = at_;
    at_ = nullptr;
  }

  [[gnu::noinline]] bool look_up(std::uint64_t now) const {
    const std::scoped_lock held(fj_detail::context_links);
    return look_up_locked(now);
  }
  bool look_up_locked(std::uint64_t now) const {
    if (cancelled_.load(std::memory_order_relaxed)) return true;
    if (seen_.load(std::memory_order_relaxed) == now) return false;
    seen_.store(now, std::memory_order_relaxed);
    if (!parent_ || !parent_->look_up_locked(now)) return false;
    cancelled_.store(true, std::memory_order_relaxed);
    return true;
  }

  void forget_parent() noexcept {
    parent_ = nullptr;
    if (at_) leave_guests();
  }
  [[gnu::noinline]] void unbind() {
    const std::scoped_lock held(fj_detail::context_links);
    forget_parent();
  }
  // They have from now on what they would have seen here.
  [[gnu::noinline]] void drop_guests() {
    const std::scoped_lock held(fj_detail::context_links);
    while (task_group_context* const guest = guests_) {
      static_cast<void>(guest->look_up_locked(fj_detail::cancellations.load(std::memory_order_acquire)));
      guest->forget_parent();
    }
  }

  mutable std::atomic<bool> cancelled_{false};
  std::atomic<bool> has_guests_{false};
  kind_type kind_;
  mutable std::atomic<std::uint64_t> seen_{0};  // of the cancellations: no context above was cancelled by them
  task_group_context* parent_ = nullptr;
  task_group_context* guests_ = nullptr;                 // the first of those that are bound here and may outlive this
  task_group_context *next_ = nullptr, **at_ = nullptr;  // as a guest: the next one, and what leads here
  std::atomic<unsigned> users_{0};                       // changes under the lock
  std::uintptr_t traits_;
  std::exception_ptr error_;
  std::shared_ptr<const std::fenv_t> floats_;
};

namespace fj_detail {

/// The calling code's floating-point settings, put back at the end.
class floats_of {
 public:
  explicit floats_of(const std::fenv_t* wanted) : is_set_(wanted) {
    if (!wanted) return;
    std::fegetenv(&before_);
    std::fesetenv(wanted);
  }
  ~floats_of() {
    if (is_set_) std::fesetenv(&before_);
  }
  floats_of(const floats_of&) = delete;
  floats_of& operator=(const floats_of&) = delete;

 private:
  const bool is_set_;
  std::fenv_t before_;
};

/// Calls f() as a body in the context, or throws fj::cancelled. What f throws cancels the others.
template <class F>
[[gnu::noinline]] decltype(auto) call_body(task_group_context& context, F&& f) {
  if (context.is_group_execution_cancelled()) throw fj::cancelled();
  const body_frame here(&context, __builtin_frame_address(0));
  const floats_of floats(context.floats());
  try {
    return f();
  } catch (...) {
    context.fail(std::current_exception());
    throw;
  }
}

template <class F>
void run_algorithm(task_group_context& context, F& f) {
  try {
    f(context);
  } catch (const fj::cancelled&) {
    if (!context.is_group_execution_cancelled()) throw;  // the program's own, of code that is no body
  } catch (...) {
    context.fail(std::current_exception());
  }
  if (std::exception_ptr error = context.error()) std::rethrow_exception(std::move(error));
}

/// Runs an algorithm inside of a runtime: f(context), with the given context, or with one of its own. Throws what a
/// body has thrown first; ends in silence if the context is cancelled.
template <class F>
void algorithm(task_group_context* given, F&& f) {
  enter([&] {
    if (given) {
      struct use {
        explicit use(task_group_context& context) : of(context) { of.begin_use(false); }
        ~use() { of.end_use(); }
        task_group_context& of;
      } const until_end(*given);
      run_algorithm(*given, f);
    } else {
      task_group_context own{own_context()};
      run_algorithm(own, f);
    }
  });
}

/// For fj::loop_options::stop: a loop that may be cancelled is cut into parts also on one P, so that its bodies check.
/// This token never stops.
inline const fj::stop_token* cuts_loop(const task_group_context& context) {
  static const fj::stop_token none;
  return context.may_be_cancelled() ? &none : nullptr;
}

}  // namespace fj_detail

}  // namespace tbb
