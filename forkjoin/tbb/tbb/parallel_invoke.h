#pragma once

#include "detail/context.h"
#include "detail/runtime.h"

#include <forkjoin/fork_join.hpp>

namespace tbb {

template <class F, class G, class... More>
void parallel_invoke(const F& f, const G& g, const More&... more) {
  if constexpr ((std::is_same_v<std::remove_cv_t<More>, task_group_context> || ...)) {
    static_assert(!sizeof(F), "tbb::parallel_invoke over forkjoin takes no task_group_context; use fj::stop_token");
  } else {
    fj_detail::algorithm(nullptr, [&](task_group_context& in) {
      static_cast<void>(fj::fork_join([&] { fj_detail::call_body(in, f); }, [&] { fj_detail::call_body(in, g); },
                                      [&] { fj_detail::call_body(in, more); }...));
    });
  }
}

}  // namespace tbb
