#include "runtime/schedule/find_work.hpp"

#include "runtime/fork/current.hpp"
#include "runtime/schedule/scheduler.hpp"
#include "runtime/schedule/search.hpp"

namespace fj::inline v0_1::detail {

using search = basic_search<system>;

fiber* find_work_of(root& only, worker& m) noexcept { return search::find_work_of(only, m); }

}  // namespace fj::inline v0_1::detail
