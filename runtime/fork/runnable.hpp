// What the ready queue holds.
#pragma once

#include "../base/list.hpp"

namespace fj::inline v0_1::detail {

/// A fiber that may go on, or the marker of a fiber that waits and left records in its deque: to run a marker is to run the
/// oldest of these records. Each is an entry of two lists, of all roots and of its own root, so that a thread that works
/// for one root finds it without a search.
struct runnable {
  enum class kind : unsigned char { fiber, marker };

  explicit runnable(kind what) noexcept : is(what) {}

  // Under the dispatcher's mutex.
  list_links<runnable> in_all, in_root;
  const kind is;
};

using all_runnables = linked_list<runnable, &runnable::in_all>;
using root_runnables = linked_list<runnable, &runnable::in_root>;

}  // namespace fj::inline v0_1::detail
