// The longest path through what has run, by every question that the profile answers: as it is, with a theft on each
// fork that a thief could take, with the strands of one site twice as fast, and with the thefts of one site free.
//
// Each question is a length of its own, which is added up along a strand and of which the largest counts at a join: the
// longest path after a change need not be the one before it. Most paths have the strands of one site only, as a
// recursion has; then the answers for that site are all there are, and one of them follows from the others: without its
// thefts the path is as long as its strands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

struct site;

/// What a path has of one site, where it has strands of several.
struct share {
  const site* of;
  double span;         // of its strands on the longest path without thefts
  double saved_twice;  // by how much the longest path with thefts is shorter if the site's strands are twice as fast
  double saved_free;   // or if its thefts are free
};

using shares = std::vector<share>;

/// Two lengths in a register. All is stored and loaded in such pairs: a load that spans two stores has to wait for
/// them.
using pair [[gnu::vector_size(16)]] = double;

[[gnu::always_inline]] inline pair larger(pair a, pair b) noexcept { return a > b ? a : b; }

/// Whose strands a path has: none, those of one site, or those that a list tells of, in the order of the sites'
/// addresses.
class owners {
 public:
  owners() = default;
  explicit owners(const site* one) noexcept : word_(reinterpret_cast<std::uintptr_t>(one)) {}
  explicit owners(shares* all) noexcept : word_(reinterpret_cast<std::uintptr_t>(all) | 1) {}

  bool none() const noexcept { return word_ == 0; }
  bool several() const noexcept { return (word_ & 1) != 0; }
  const site* one() const noexcept { return reinterpret_cast<const site*>(word_); }
  shares* all() const noexcept { return reinterpret_cast<shares*>(word_ & ~std::uintptr_t{1}); }

  /// Not if they are lists, as each path has its own.
  bool operator==(const owners&) const = default;

 private:
  std::uintptr_t word_;
};

/// Lengths in ticks. path() is an empty one.
struct path {
  pair lengths;  // of strands; and with a theft on each edge that a thief could take
  // As the second, if the strands of the owner were twice as fast; and all strands, also those not on the path.
  pair others;
  owners whose;  // a list is from the store, and is given back to it

  double span() const noexcept { return lengths[0]; }
  double burdened() const noexcept { return lengths[1]; }
  double twice() const noexcept { return others[0]; }
  double work() const noexcept { return others[1]; }
};

/// Lists that are not in use.
class store_of_shares {
 public:
  shares* take() {
    if (free_.empty()) return new shares;
    shares* const one = free_.back();
    free_.pop_back();
    one->clear();
    return one;
  }

  void give(shares* one) { free_.push_back(one); }

 private:
  std::vector<shares*> free_;
};

inline store_of_shares& store() {
  static store_of_shares& one = *new store_of_shares;
  return one;
}

/// The list of a path.
inline shares& listed(path& of) {
  if (!of.whose.several()) {
    shares* const all = store().take();
    all->push_back({of.whose.one(), of.span(), of.burdened() - of.twice(), of.burdened() - of.span()});
    of.whose = owners(all);
  }
  return *of.whose.all();
}

/// Calls f(share of a or nullptr, share of b or nullptr) for each site that one has. What it returns becomes the list
/// of a; b has none.
template <class F>
void merge(path& a, path& b, const F& f) {
  shares &first = listed(a), &second = listed(b);
  shares* const to = store().take();
  auto i = first.begin(), j = second.begin();
  while (i != first.end() || j != second.end()) {
    const bool has_first = i != first.end() && (j == second.end() || i->of <= j->of);
    const bool has_second = j != second.end() && (i == first.end() || j->of <= i->of);
    to->push_back(f(has_first ? &*i : nullptr, has_second ? &*j : nullptr));
    i += has_first;
    j += has_second;
  }
  store().give(&first);
  store().give(&second);
  a.whose = owners(to);
}

inline path copy(const path& of) {
  path to = of;
  if (of.whose.several()) {
    shares* const all = store().take();
    *all = *of.whose.all();
    to.whose = owners(all);
  }
  return to;
}

/// What comes after it. `more` is not to be used afterwards.
inline void append(path& to, path& more) {
  if (to.whose.none()) {
    to = more;
    return;
  }
  if (!more.whose.none() && to.whose != more.whose) {
    merge(to, more, [](const share* a, const share* b) {
      if (!a || !b) return a ? *a : *b;
      return share{a->of, a->span + b->span, a->saved_twice + b->saved_twice, a->saved_free + b->saved_free};
    });
  }
  to.lengths += more.lengths;
  to.others += more.others;
}

/// The longer one, of what may run at the same time; the work of both. `other` is not to be used afterwards.
inline void take_longer(path& to, path& other) {
  if (to.whose.none()) {
    to = other;
    return;
  }
  const pair lengths = larger(to.lengths, other.lengths);
  if (!other.whose.none() && to.whose != other.whose) {
    const bool is_longer = other.span() > to.span();
    merge(to, other, [&](const share* a, const share* b) {
      const share none{(a ? a : b)->of, 0, 0, 0};
      const share &one = a ? *a : none, &two = b ? *b : none;
      const auto saved = [&](double share::* by) {
        return lengths[1] - (std::max)(to.burdened() - one.*by, other.burdened() - two.*by);
      };
      return share{none.of, (is_longer ? two : one).span, saved(&share::saved_twice), saved(&share::saved_free)};
    });
  }
  to.lengths = lengths;
  to.others = pair{(std::max)(to.twice(), other.twice()), to.work() + other.work()};
}

/// A strand of a site.
[[gnu::always_inline]] inline path strand_of(const site* of, double length) noexcept {
  return {pair{length, length}, pair{length / 2, length}, owners(of)};
}

/// So many ticks of thefts at a site.
[[gnu::always_inline]] inline path thefts_at(const site* of, double length) noexcept {
  return {pair{0, length}, pair{length, 0}, owners(of)};
}

}}}}  // namespace fj::v0_4::detail::profile
