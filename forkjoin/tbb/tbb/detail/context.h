// tbb::task_group_context: cancellation and its outcome, as a stop token.
#pragma once

#include <forkjoin/stop.hpp>

#include <mutex>

namespace tbb {

class task_group_context {
 public:
  enum kind_type { isolated, bound };
  enum traits_type { default_traits = 0, concurrent_wait = 0, fp_settings = 0 };

  task_group_context(kind_type = bound, unsigned long = default_traits) {}
  task_group_context(const task_group_context&) = delete;
  task_group_context& operator=(const task_group_context&) = delete;

  /// True if this call was the first.
  bool cancel_group_execution() { return source_.request_stop(); }
  bool is_group_execution_cancelled() const { return source_.stop_requested(); }
  /// Not while work runs in it.
  void reset() { source_ = fj::stop_source(); }

  fj::stop_token token() const { return source_.get_token(); }

 private:
  fj::stop_source source_;
};

namespace fj_detail {

/// Calls f(options) with the context's token. A cancelled algorithm ends silently, as in oneTBB, and so does one that throws after a stop.
template <class F>
void in_context(task_group_context& context, F&& f) {
  const fj::stop_token token = context.token();
  try {
    f(&token);
  } catch (const fj::cancelled&) {
  } catch (...) {
    context.cancel_group_execution();
    throw;
  }
}

}  // namespace fj_detail

}  // namespace tbb
