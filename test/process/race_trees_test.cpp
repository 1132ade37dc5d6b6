// Random trees of forks, loops, folds and scopes whose parts read and write variables, with locks and without: what the
// race detector finds, beside what follows from the tree by itself. race_trees_test.py runs it with one seed after
// another.
//
// race_trees_test SEED: with an odd seed each strand joins its scopes from the innermost on, with an even one in any
// order. Prints the names of the variables that some two accesses of race on.
#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t variables = 40, locks = 3;

enum class kind { access, sequence, fork_join, loop, fold, scope, fork, join };

struct node {
  kind is = kind::access;
  std::vector<node> parts;
  std::size_t variable = 0;
  bool writes = false;
  std::bitset<locks> under{};
  std::size_t scope = 0;  // of a fork or a join: 0 is the innermost
};

class maker {
 public:
  explicit maker(unsigned seed)
      : random_(seed), locks_(seed % 3 == 0 ? locks : 0), deepest_(3 + seed % 5), joins_any_(seed % 2 == 0) {}

  node tree() {
    node all;
    all.is = kind::sequence;
    for (unsigned i = 0, n = 1 + below(3); i != n; ++i) all.parts.push_back(part(0, 0, 0));
    if (joins_any_) all.parts.push_back(crossed());
    // Most often one access of a variable writes: of more, most variables would have a race.
    std::array<std::vector<node*>, variables> accesses;
    collect(all, accesses);
    for (auto& some : accesses)
      for (unsigned i = 0, n = below(5) == 0 ? 2 : 1; i != n && !some.empty(); ++i)
        some[below(some.size())]->writes = true;
    return all;
  }

 private:
  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }

  /// Of the scopes that are open, the innermost `own` are of this strand, which alone may join them.
  node part(std::size_t depth, std::size_t scopes, std::size_t own) {
    const unsigned choice = depth > deepest_ ? 0 : below(scopes ? joins_any_ && own ? 21 : 18 : 10);
    node made;
    switch (choice) {
      case 0:
      case 1:
      case 2:
        made.variable = below(variables);
        for (std::size_t i = 0; i != locks_; ++i) made.under[i] = below(2) == 0;
        return made;
      case 3:
      case 4:
        made.is = kind::sequence;
        break;
      case 5:
      case 6:
        made.is = kind::fork_join;
        break;
      case 7:
        made.is = kind::loop;
        break;
      case 8:
        made.is = kind::fold;
        break;
      case 9:
      case 18:
        made.is = kind::scope;
        break;
      case 17:
      case 19:
      case 20:
        made.is = own != 0 ? kind::join : kind::sequence;
        if (joins_any_ && own > 1) made.scope = below(own);
        return made;
      default:
        made.is = kind::fork;
        // Not both joins in any order and children in scopes of ancestors: the detector takes some of what these order
        // for unordered.
        made.scope = below(joins_any_ ? std::max<std::size_t>(own, 1) : scopes);
        made.parts.push_back(part(depth + 1, scopes - made.scope, 0));  // it may outlive those inside
        return made;
    }
    if (made.is == kind::scope) {
      ++scopes;
      ++own;
    } else if (made.is != kind::sequence) {
      own = 0;
    }
    for (unsigned i = 0, n = made.is == kind::fork_join ? 3 : 2 + below(3); i != n; ++i)
      made.parts.push_back(part(depth + 1, scopes, own));
    return made;
  }

  /// A scope that is joined before an inner one, with accesses of one variable in both and behind.
  node crossed() {
    node same;
    same.variable = below(variables);
    const node child{.is = kind::fork, .parts = {same}};
    node join;
    join.is = kind::join;
    join.scope = 1;
    const node inner{.is = kind::scope, .parts = {part(deepest_, 2, 2), child, join, part(deepest_, 2, 2), same}};
    return {.is = kind::scope, .parts = {part(deepest_, 1, 1), child, inner}};
  }

  static void collect(node& from, std::array<std::vector<node*>, variables>& to) {
    if (from.is == kind::access) to[from.variable].push_back(&from);
    for (node& one : from.parts) collect(one, to);
  }

  std::mt19937 random_;
  std::size_t locks_, deepest_;
  bool joins_any_;
};

/// Which accesses nothing orders: by all ways through the graph of the strands.
class judge {
 public:
  explicit judge(const node& all) { walk(all, strand({}), {}); }

  std::array<bool, variables> racy() const {
    std::array<bool, variables> found{};
    for (const access& a : accesses_) {
      for (const access& b : accesses_) {
        if (a.of->variable == b.of->variable && (a.of->writes || b.of->writes) && !before_[a.in][b.in] &&
            !before_[b.in][a.in] && (a.of->under & b.of->under).none())
          found[a.of->variable] = true;
      }
    }
    return found;
  }

 private:
  struct access {
    std::size_t in;
    const node* of;
  };
  static constexpr std::size_t most = 4096;

  /// A new strand after these.
  std::size_t strand(const std::vector<std::size_t>& after) {
    before_.emplace_back();
    const std::size_t mine = before_.size() - 1;
    if (mine >= most) std::exit(77);
    for (std::size_t i = 0; i != before_.size(); ++i)
      for (const std::size_t one : after)
        if (i == one || before_[i][one]) before_[i][mine] = true;
    before_[mine][mine] = true;
    return mine;
  }

  using ends = std::vector<std::size_t>;
  using open_scopes = std::vector<ends*>;

  std::size_t walk(const node& one, std::size_t now, const open_scopes& scopes) {
    switch (one.is) {
      case kind::access:
        accesses_.push_back({now, &one});
        return now;
      case kind::sequence:
        for (const node& part : one.parts) now = walk(part, now, scopes);
        return now;
      case kind::fork_join:
      case kind::loop: {
        ends all;
        for (const node& part : one.parts) all.push_back(walk(part, strand({now}), scopes));
        return strand(all);
      }
      case kind::fold: {
        std::size_t folded = strand({now});
        for (std::size_t i = 1; i != one.parts.size(); ++i)
          folded = walk(one.parts[0], strand({folded, walk(one.parts[i], strand({now}), scopes)}), scopes);
        return folded;
      }
      case kind::scope: {
        ends own;
        open_scopes inner = scopes;
        inner.push_back(&own);
        for (const node& part : one.parts) now = walk(part, now, inner);
        return joined(now, own);
      }
      case kind::fork: {
        const open_scopes alive(scopes.begin(), scopes.end() - static_cast<std::ptrdiff_t>(one.scope));
        alive.back()->push_back(walk(one.parts[0], strand({now}), alive));
        return strand({now});
      }
      case kind::join:
        return joined(now, *scopes[scopes.size() - 1 - one.scope]);
    }
    return now;
  }

  std::size_t joined(std::size_t now, ends& of) {
    ends all = std::exchange(of, {});
    all.push_back(now);
    return strand(all);
  }

  std::vector<std::bitset<most>> before_;
  std::vector<access> accesses_;
};

template <int Number>
long variable;
std::mutex mutexes[locks];

constexpr auto all_variables = []<std::size_t... Number>(std::index_sequence<Number...>) {
  return std::array<long*, variables>{&variable<static_cast<int>(Number)>...};
}(std::make_index_sequence<variables>());

/// All accesses are in two places of the code, for all variables.
[[gnu::noinline]] void touch(long& one, bool writes) {
  if (writes) {
    one = 1;
  } else {
    asm volatile("" : : "r"(one));
  }
  asm volatile("" : : : "memory");
}

/// Strands use the same stack and heap one after the other.
[[gnu::noinline]] void use_memory(std::size_t n) {
  std::array<long, 40> some;
  for (std::size_t i = 0; i != n % some.size(); ++i) some[i] = static_cast<long>(i);
  asm volatile("" : : "r"(some.data()) : "memory");
  std::string text(20 + n % 50, 'x');
  text.back() = 'y';
  asm volatile("" : : "r"(text.data()) : "memory");
}

using open_scopes = std::vector<fj::scope*>;

void execute(const node& one, const open_scopes& scopes) {
  use_memory(one.parts.size() * 7 + one.variable * 5);
  switch (one.is) {
    case kind::access:
      for (std::size_t i = 0; i != locks; ++i)
        if (one.under[i]) mutexes[i].lock();
      touch(*all_variables[one.variable], one.writes);
      for (std::size_t i = 0; i != locks; ++i)
        if (one.under[i]) mutexes[i].unlock();
      break;
    case kind::sequence:
      for (const node& part : one.parts) execute(part, scopes);
      break;
    case kind::fork_join:
      fj::fork_join([&] { execute(one.parts[0], scopes); }, [&] { execute(one.parts[1], scopes); },
                    [&] { execute(one.parts[2], scopes); });
      break;
    case kind::loop:
      fj::parallel_for(std::size_t{0}, one.parts.size(), [&](std::size_t i) { execute(one.parts[i], scopes); });
      break;
    case kind::fold: {
      const std::string all = fj::fork_reduce(
          std::size_t{1}, one.parts.size(), std::string(),
          [&](std::string sum, const std::string& more) {
            execute(one.parts[0], scopes);
            return sum + more;
          },
          [&](std::size_t i) {
            execute(one.parts[i], scopes);
            return std::string(i * 9, 'z');
          });
      asm volatile("" : : "r"(all.data()) : "memory");
      break;
    }
    case kind::scope: {
      fj::scope own;
      open_scopes inner = scopes;
      inner.push_back(&own);
      for (const node& part : one.parts) execute(part, inner);
      own.join();  // `inner` is gone before the scope is
      break;
    }
    case kind::fork: {
      const open_scopes alive(scopes.begin(), scopes.end() - static_cast<std::ptrdiff_t>(one.scope));
      alive.back()->fork([&part = one.parts[0], alive, text = std::string(30, 'c')] {
        execute(part, alive);
        use_memory(text.size());
      });
      break;
    }
    case kind::join:
      scopes[scopes.size() - 1 - one.scope]->join();
      break;
  }
  use_memory(one.parts.size() * 3 + one.variable);
}

}  // namespace

int main(int argc, char** argv) {
  const node all = maker(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1).tree();
  const auto racy = judge(all).racy();
  for (std::size_t i = 0; i != variables; ++i)
    if (racy[i]) std::printf("variable<%zu>\n", i);
  fj::run([&] { execute(all, {}); });
}
