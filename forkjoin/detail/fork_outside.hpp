// A fork outside any runtime: it enters the default one.
#pragma once

#include "forkjoin/abi/fork.hpp"
#include "forkjoin/abi/run.hpp"
#include "forkjoin/detail/call_in.hpp"
#include "forkjoin/detail/closure.hpp"
#include "forkjoin/detail/function_ref.hpp"
#include "forkjoin/detail/result.hpp"
#include "forkjoin/policies.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

template <class G, class Join>
class branch;

template <class F, class G, class Join>
results_of<F, G> fork_two(policy<first_child_first, Join>, lvalue<F> f, lvalue<G> g);
template <class F, class G, class Join>
results_of<F, G> fork_two(policy<last_child_first, Join>, lvalue<F> f, lvalue<G> g);

/// Does with a record what a thief would.
struct run_record {
  continuation& record;
  void operator()() const noexcept { record.joined.settle(record.joined.body()(record)); }
};

/// Does a fork from outside any runtime in the default one. Types are erased, so that not every fork is compiled twice.
template <class Policy>
[[gnu::cold, gnu::noinline]] void fork_in_default_runtime(function_ref<void()> here, run_record other) {
  const auto fork = [&] {
    if constexpr (runs_first_child<Policy>) {
      fork_two<function_ref<void()>&, run_record&>(Policy(), here, other);
    } else {
      fork_two<run_record&, function_ref<void()>&>(Policy(), other, here);
    }
  };
  detail::call_in(default_scheduler(), fork);
}

/// Runs both branches in the default runtime, which leaves the record as if a thief had finished it.
template <class Policy, class Here, class Record>
[[gnu::cold, gnu::noinline]] value_of<result_of<Here>> fork_outside(closure_argument<Here> here,
                                                                    branch<Record, typename Policy::join>& other) {
  late_result<result_of<Here>> result;
  try {
    fork_in_default_runtime<Policy>([&] { result.store(here); }, {other});
  } catch (...) {
    if (!other.joined.finished()) other.store_exception();
    throw;
  }
  return result.take();
}

}}}  // namespace fj::v0_4::detail
