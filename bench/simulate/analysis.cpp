#include "bench/simulate/analysis.hpp"

#include <algorithm>
#include <vector>

namespace simulate {

namespace {

// A call that has not returned. `before`: the span from its start to where it is; within a fork, to where that began.
struct call {
  node self;
  unsigned phase = 0;
  picoseconds before = 0;
  enum { calling, left, right } waits_for = calling;
  node other;                 // the right side, until its turn comes
  picoseconds left_span = 0;  // of the fork it is in
};

}  // namespace

shape analyse(const kernel& k, picoseconds burden) {
  shape found;
  std::vector<call> stack;
  step s;
  const auto enter = [&](const node& n) {
    found.order = followed_by(found.order, n);
    ++found.nodes;
    stack.push_back({.self = n, .other = {}});
    found.depth = std::max<std::uint64_t>(found.depth, stack.size());
  };
  enter(k.root());
  for (;;) {
    call& now = stack.back();
    k.at(now.self, now.phase++, s);
    found.work += s.work;
    now.before += s.work;
    if (s.follows == then::call) {
      now.waits_for = call::calling;
      enter(s.left);
    } else if (s.follows == then::fork) {
      ++found.forks;
      now.before += burden;
      now.waits_for = call::left;
      now.other = s.right;
      enter(s.left);
    } else {
      picoseconds span = now.before;
      stack.pop_back();
      if (stack.empty()) {
        found.span = span;
        return found;
      }
      call& caller = stack.back();
      if (caller.waits_for == call::calling) {
        caller.before += span;
      } else if (caller.waits_for == call::left) {
        caller.left_span = span;
        caller.waits_for = call::right;
        enter(node(caller.other));
      } else {
        caller.before += std::max(caller.left_span, span);
      }
    }
  }
}

std::uint64_t forks_in_chain(const kernel& k) { return static_cast<std::uint64_t>(analyse(scaled(k, 0), 1).span); }

}  // namespace simulate
