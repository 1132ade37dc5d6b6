// What the protocols of this folder ask of the strands that they are compiled for: the library's (hooks.hpp), and the
// models' (test/model/strands.hpp). To be included after those.
#pragma once

#include <concepts>

#include "runtime/strand/hooks.hpp"

namespace fj { inline namespace v0_2 { namespace detail {

/// hooks.hpp says what each does.
template <class Hooks>
concept hooks_for_strands =
    requires(typename Hooks::worker::afterwards then, typename Hooks::fiber& f, void* argument) {
      { Hooks::may_leave() } -> std::same_as<bool>;
      Hooks::suspend(then, argument);
      Hooks::resume(f);
      Hooks::end_strand(&f);
      Hooks::arrive_on_worker();
      { then(*static_cast<typename Hooks::worker*>(nullptr), f, argument) } -> std::same_as<typename Hooks::fiber*>;
    };

}}}  // namespace fj::v0_2::detail
