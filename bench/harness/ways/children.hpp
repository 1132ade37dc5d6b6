// The children of a node, whose number a program knows only when it runs.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace bench::ways {

// Adds up what body returns for each child, by two closures a fork: the first child, and the others.
template <class Way, class T, class Body>
T fork_children(int first, int last, const T& init, const Body& body) {
  if (first == last) return init;
  if (last - first == 1) return init + body(first);
  auto [one, others] = Way::fork([first, &body] { return body(first); },
                                 [first, last, &body] { return fork_children<Way>(first + 1, last, T{}, body); });
  return init + one + others;
}

// Where tasks that return nothing leave what they found for each child. Most nodes have a few; then nothing is
// allocated.
template <class T>
class child_results {
 public:
  explicit child_results(int count) {
    if (count <= few) return;
    many_.resize(static_cast<std::size_t>(count));
    at_ = many_.data();
  }

  T& operator[](int child) { return at_[child]; }

  // In order.
  T add_up(T init, int count) const {
    for (int i = 0; i < count; ++i) init = init + at_[i];
    return init;
  }

 private:
  static constexpr int few = 16;

  std::array<T, few> few_;
  std::vector<T> many_;
  T* at_ = few_.data();
};

}  // namespace bench::ways
