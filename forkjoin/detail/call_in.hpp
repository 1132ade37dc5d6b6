// A call of run: the closure as a job, with its result.
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include "forkjoin/abi/run.hpp"
#include "forkjoin/detail/misuse.hpp"
#include "forkjoin/detail/result.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

/// The job that calls f. It lies in the frame of call_in.
template <class F>
class job_call : public job_body {
 public:
  explicit job_call(F& f) noexcept : job_body(&call_it), f_(f) {}

  /// The result of f, or its exception.
  result_of<F> take() {
    if (error_) std::rethrow_exception(std::move(error_));
    return static_cast<result_of<F>>(result_.take());
  }

 private:
  static void call_it(job_body& self) noexcept {
    auto& mine = static_cast<job_call&>(self);
    try {
      mine.result_.store(mine.f_);
    } catch (...) {
      mine.error_ = caught_exception();
    }
  }

  F& f_;
  late_result<result_of<F>> result_;
  std::exception_ptr error_;
};

/// Calls f inside the runtime s: at once if the caller is inside already, otherwise as a job, whose end the caller
/// waits for.
template <class F>
result_of<F> call_in(scheduler& s, F& f) {
  if (is_inside(s)) return std::invoke(f);
  job_call<F> mine(f);
  detail::run_job(s, mine);
  return mine.take();
}

}}}  // namespace fj::v0_4::detail
