#pragma once

#include "detail/context.h"

#include <forkjoin/fork_join.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tbb {

namespace fj_detail {

template <class... F>
void invoke_all(task_group_context* context, const F&... f) {
  algorithm(context, [&](task_group_context& in) { static_cast<void>(fj::fork_join([&] { call_body(in, f); }...)); });
}

/// The last argument is the context.
template <class Arguments, std::size_t... I>
void invoke_in_context(const Arguments& arguments, std::index_sequence<I...>) {
  invoke_all(&std::get<sizeof...(I)>(arguments), std::get<I>(arguments)...);
}

template <class F>
concept function_of_invoke = requires(const F& f) { f(); };

}  // namespace fj_detail

template <fj_detail::function_of_invoke F, fj_detail::function_of_invoke G, fj_detail::function_of_invoke... More>
void parallel_invoke(const F& f, const G& g, const More&... more) {
  fj_detail::invoke_all(nullptr, f, g, more...);
}
/// Two functions or more, and a context.
template <fj_detail::function_of_invoke F, fj_detail::function_of_invoke G, class... More>
  requires(sizeof...(More) > 0 &&
           std::is_same_v<std::tuple_element_t<sizeof...(More) - 1, std::tuple<More...>>, task_group_context&>)
void parallel_invoke(const F& f, const G& g, More&&... more) {
  fj_detail::invoke_in_context(std::tuple<const F&, const G&, More&...>(f, g, more...),
                               std::make_index_sequence<1 + sizeof...(More)>());
}

}  // namespace tbb
