// Records the fork DAG of a program while it runs serially.
//
// Calls with the same steps are kept once: fib(35) has 30 million calls, of which 35 differ. So a node stands for all
// calls that do the same, and what takes memory is what is irregular in a DAG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "bench/simulate/kernel.hpp"

namespace simulate {

/// The DAG of a run of a kernel. Immutable, so threads may walk it at the same time.
class recorded final : public kernel {
 public:
  node root() const override { return root_; }
  void at(node& self, unsigned phase, step& out) const override {
    const saved& s = steps_[self.kind + phase];
    out.work = s.work;
    out.follows = s.left == none ? then::end : then::fork;
    out.left = {s.left};
    out.right = {s.right};
    out.parts = loops_[s.loop].parts;
    out.iterations = loops_[s.loop].iterations;
  }

  std::size_t size() const noexcept { return steps_.size(); }

 private:
  friend class recorder;

  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// What a fork of two calls does not have; each kind is kept once.
  struct loop_kind {
    loop_parts parts;
    std::uint32_t iterations = 0;

    auto operator<=>(const loop_kind&) const = default;
  };

  /// Where left and right are none, the end of the call.
  struct saved {
    std::int64_t work : 48;
    std::uint64_t loop : 16;
    std::uint32_t left, right;

    bool operator==(const saved&) const = default;
  };

  // A node's kind is the index of its first step.
  std::vector<saved> steps_;
  std::vector<loop_kind> loops_ = {{}};
  node root_;
};

class recorder {
 public:
  /// The call that began last and has not ended works. Throws std::length_error for over two minutes without a fork.
  void works(picoseconds time);

  /// A side of a fork begins, or the whole program; end returns its node. Throws std::bad_alloc, end also
  /// std::length_error.
  void begin();
  node end();

  /// The call that began last and has not ended forks two sides, which have. `parts` and `iterations` are as in a step.
  /// Throws std::length_error for too large a DAG.
  void forks(const node& left, const node& right, const loop_parts& parts, std::uint32_t iterations = 0);

  /// The root is the call that began first and ended last.
  recorded take(const node& root);

 private:
  using saved = recorded::saved;
  using loop_kind = recorded::loop_kind;

  struct call {
    std::size_t first;  // of its steps in open_
    picoseconds worked = 0;
  };

  std::uint64_t number_of(const loop_kind& kind);
  static saved step_of(call& now, const node& left, const node& right, std::uint64_t loop);
  std::uint32_t kept(std::size_t first);
  std::uint32_t& bucket_of(const saved* steps);
  void grow();

  recorded made_;
  std::vector<call> calls_;
  std::vector<saved> open_;  // of calls that have not ended, the inner ones' last
  std::map<loop_kind, std::uint64_t> loop_numbers_;
  std::vector<std::uint32_t> buckets_;  // of a hash table of the nodes, none where empty; a power of two
  std::size_t nodes_ = 0;
};

}  // namespace simulate
