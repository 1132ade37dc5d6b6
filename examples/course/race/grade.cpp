// Grades lab 2: the leaves have their numbers by any order of the branches. An order that one P keeps shows a
// determinacy race each time; that on many Ps shows it when it likes.
#include ANSWER

#include <cstdint>
#include <cstdio>
#include <memory>

#include "forkjoin/forkjoin.hpp"

namespace {

// A tree of so many leaves, of no regular shape.
std::unique_ptr<node> grown(long leaves, std::uint64_t seed) {
  auto here = std::make_unique<node>();
  if (leaves == 1) return here;
  seed = seed * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
  const long left = 1 + static_cast<long>((seed >> 33) % static_cast<std::uint64_t>(leaves - 1));
  here->left = grown(left, seed);
  here->right = grown(leaves - left, seed + 1);
  return here;
}

// Returns whether all leaves have their numbers, which go on with `next`; else says which has not.
bool is_numbered(const node& here, long& next, const char* how) {
  if (here.left) return is_numbered(*here.left, next, how) && is_numbered(*here.right, next, how);
  if (here.number == next) return ++next, true;
  std::printf("%s: leaf %ld has number %ld\n", how, next, here.number);
  return false;
}

template <class Policy>
bool check(const char* how, fj::options on) {
  const auto root = grown(5'000, 1);
  fj::runtime rt(on);
  rt.run([&] { number_leaves<Policy>(*root); });
  long next = 0;
  return is_numbered(*root, next, how);
}

}  // namespace

int main() {
  bool right = check<fj::continuations>("one P", {.procs = 1});
  right = right && check<fj::policy<fj::last_child_first, fj::leave_stack>>("one P that runs the last branch first",
                                                                            {.procs = 1});
  for (int i = 0; i < 10; ++i)
    right = right && check<fj::continuations>("8 P, each fork stolen", {.procs = 8, .steal_every_fork = true});
  return right ? 0 : 1;
}
