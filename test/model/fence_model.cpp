// The heavy fence by signal: threads that pass light fences, sleep, and go on, beside one that calls the heavy fence.

#include "test/model/scenario.hpp"

#include "runtime/sched/fence_by_signal.hpp"

namespace model {
namespace {

using fj::detail::fence_by_signal;
using fj::detail::light_fences;

/// Two threads store, pass a light fence, and load; a third stores, calls the heavy fence, and loads. Late: no answer
/// is too late for the clock, and a thread does not end its part the last time before the heavy fence is over.
template <bool Late>
class fencing : public scenario {
 public:
  fencing() {
    for (light_fences& one : parts_) fence_.add(one);
  }

  void thread(unsigned index) override {
    if (index == 2) return calls();
    for (int rounds = 0; rounds < 2; ++rounds) {
      parts_[index].begin();
      for (int i = 0; i < 2; ++i) forks(index);
      if (Late && rounds == 1) wait_until([this] { return is_over_; });
      parts_[index].end();
      if (any_of(2)) pause();
    }
  }

 private:
  void forks(unsigned index) {
    const int count = ++stored_[index];
    words_[index].store(count, std::memory_order_release);
    os::light_fence();
    if (guard_.load(std::memory_order_acquire) == 0) passed_[index] = count;
  }

  void calls() {
    guard_.store(1, std::memory_order_relaxed);
    const bool all = fence_.pass(nullptr);
    check(all || !Late, "each thread answers at last");
    if (!all) return;
    // What has passed the guard is to be seen.
    const int passed[] = {passed_[0], passed_[1]};
    for (unsigned i = 0; i < 2; ++i)
      check(words_[i].load(std::memory_order_acquire) >= passed[i], "a light fence is seen, or sees the guard");
    had_passed_[0] = passed[0];
    had_passed_[1] = passed[1];
    is_over_ = true;
  }

  void after() override {
    for (unsigned i = 0; i < 2; ++i)
      check(!is_over_ || passed_[i] == had_passed_[i], "nothing passes the guard after the heavy fence");
  }

  std::int64_t now_ns() override {
    return Late ? 0 : any_of(16) == 0 ? fj::detail::tuning::answers_within_ns + ++time_ : time_;
  }

  light_fences parts_[2];
  fence_by_signal fence_;
  os::atomic<int> guard_{0};
  os::atomic<int> words_[2] = {};
  // Known outside of the model's memory, so true at once.
  int stored_[2] = {}, passed_[2] = {}, had_passed_[2] = {};
  bool is_over_ = false;
  std::int64_t time_ = 0;
};

}  // namespace

const named_scenario scenarios[] = {
    {"fence", 300'000, &make<fencing<false>>},
    {"fence_late", 200'000, &make<fencing<true>>},
    {},
};

}  // namespace model
