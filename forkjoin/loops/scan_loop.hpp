// How scans are computed in parallel: one strand scans the sequence from the left, and thieves sum up the blocks ahead
// of it. A strand begins a scan alone, as it begins a loop.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "forkjoin/fork_join.hpp"
#include "forkjoin/loop_options.hpp"
#include "forkjoin/loops/blocks.hpp"
#include "forkjoin/loops/chunks.hpp"
#include "forkjoin/loops/fold.hpp"
#include "forkjoin/loops/ordered_parts.hpp"
#include "forkjoin/loops/sequence.hpp"
#include "forkjoin/loops/split_loop.hpp"
#include "forkjoin/run.hpp"
#include "forkjoin/serial/observer.hpp"

namespace fj { inline namespace v0_4 { namespace detail {

enum class scan_kind { inclusive, exclusive };

/// What a scan reads. Some elements twice, so it does not let op move from what an iterator gives as an rvalue.
template <class T, class In, class X = std::iter_reference_t<In>>
using scanned = addend<T, std::conditional_t<std::is_rvalue_reference_v<X>, const std::remove_reference_t<X>&, X>>;

/// The prefix of a block, the sum of all blocks before it, is ((init op b0) op b1) ..., where b0, b1, ... are the sums
/// of the blocks by themselves; where it does not depend on the association, it may also be what scanning the block
/// before gave. So the results are the same whether a block's sum was needed in advance or not.
///
/// Work is what to do with blocks: sum_of(block) and combined(sum, sum), scan(block, prefix), and scan_blocks(first,
/// last, before), which also turns `before` into the prefix of the block `last`.
template <class T, class Work>
class scan_loop {
 public:
  scan_loop(const Work& work, const blocks& all, const stop_token* stop) noexcept
      : work_(work), blocks_(all), parts_(stop) {}

  /// Scans all. `before` is the prefix of the first block, nothing if its first element is the first sum; and
  /// afterwards the sum of all.
  void run(std::optional<T>& before) { scan(0, blocks_.count(), before); }

  /// The same, alone at first: part after part, until the rest is worth sharing, as split_loop::begin_alone. Meanwhile
  /// a worker that looks for work may sum up the blocks ahead.
  void run_alone(std::optional<T>& before, std::size_t n, pace& known) {
    const std::size_t last = blocks_.count();
    lone_parts parts(n, known);
    for (std::size_t first = 0;;) {
      const std::size_t begin = blocks_.begin(first), middle = blocks_.after(begin + parts.size());
      if (middle >= last) {
        scan_part(first, last, before);
        return learn(parts.end(true), n, known);
      }
      std::atomic<bool> arrived = false;
      block_sums ahead(middle);
      const bool has_help = detail::fork_quietly(
          [&, this] {
            scan_part(first, middle, before);
            arrived.store(true, std::memory_order_relaxed);
          },
          [&, this] { sum_ahead(ahead, last, arrived); });
      if (has_help || parts.worth_sharing(begin, blocks_.begin(middle), os::rough_ns())) {
        scan_behind(ahead, last, before);
        return static_cast<void>(parts.end(false));
      }
      first = middle;
    }
  }

 private:
  using prefix = std::optional<T>;

  /// The sums of the blocks [begin, end), computed ahead of the scanning strand.
  struct block_sums {
    explicit block_sums(std::size_t first) noexcept : begin(first), end(first) {}

    std::size_t begin;
    std::size_t end;
    std::vector<prefix> sums;  // sums[block - begin]
  };

  // After a scan that its strand ran alone.
  static void learn(std::uint64_t took_ns, std::size_t n, pace& known) noexcept {
    if (took_ns <= tuning::very_brief_ns && known.wants_more() && !os::takes_turns()) known.learn_more(n, took_ns);
  }

  void scan_part(std::size_t first, std::size_t last, prefix& before) {
    parts_.run(first, [&, this] { work_.scan_blocks(first, last, before); });
  }

  // Scans blocks [first, last). `before` is the prefix of first, and afterwards that of last. Whenever a worker is
  // hungry, this strand forks: it scans the first third of what is left, and its continuation sums up the other blocks
  // until the strand arrives there. No strand waits for a sum longer than for one block. So a third is best for two
  // workers if summing up takes as long as scanning.
  void scan(std::size_t first, std::size_t last, prefix& before) {
    for (; first != last; ++first) {
      if (last - first != 1 && hungry()) {
        const std::size_t middle = first + std::max<std::size_t>(1, (last - first) / 3);
        std::atomic<bool> arrived = false;  // relaxed: tells only when to stop; the join orders the sums
        block_sums ahead(middle);
        fork_join(
            [&, this] {
              scan(first, middle, before);
              if constexpr (!is_observed) arrived.store(true, std::memory_order_relaxed);
            },
            [&, this] { sum_ahead(ahead, last, arrived); });
        return scan_behind(ahead, last, before);
      }
      scan_part(first, first + 1, before);
    }
  }

  // Scans up to `last`, from where the sums ahead begin.
  void scan_behind(block_sums& ahead, std::size_t last, prefix& before) {
    turn_into_prefixes(ahead, before);
    if (ahead.begin == ahead.end) return scan(ahead.begin, last, before);
    if (ahead.end == last) return scan_with_prefixes(ahead);
    fork_join([&, this] { scan_with_prefixes(ahead); }, [&, this] { scan(ahead.end, last, before); });
  }

  // Sums up blocks until the scanning strand arrives. If a worker is hungry, it sums up all blocks in parallel, as sums
  // that helpers make further right are of use only together with those before them. What throws ahead of the scan is
  // no exception of the scan yet: the scanning strand comes there in order, and throws by itself.
  void sum_ahead(block_sums& ahead, std::size_t last, const std::atomic<bool>& arrived) {
    if (arrived.load(std::memory_order_relaxed)) return;
    ordered_parts in_order(nullptr);  // not the scan's: a sum that has thrown keeps no part of the scan from starting
    try {
      ahead.sums.resize(last - ahead.begin);
      for (; ahead.end != last && !arrived.load(std::memory_order_relaxed); ++ahead.end) {
        if (last - ahead.end > 1 && hungry()) {
          const auto sum = [&, this](std::size_t block) { sum_block(ahead, block); };
          for_blocks(ahead.end, last, in_order, sum);
          ahead.end = last;
          return;
        }
        sum_block(ahead, ahead.end);
      }
    } catch (...) {
      while (ahead.end != last && !ahead.sums.empty() && ahead.sums[ahead.end - ahead.begin]) ++ahead.end;
    }
  }

  void sum_block(block_sums& ahead, std::size_t block) {
    parts_.begin(block);  // not if the scan has thrown, or was asked to stop
    ahead.sums[block - ahead.begin].emplace(work_.sum_of(block));
  }

  // Turns the sums of the blocks into their prefixes, and `before` into the prefix of what follows. Where the operation
  // throws, the sums end, as in sum_ahead.
  void turn_into_prefixes(block_sums& ahead, prefix& before) {
    for (std::size_t block = ahead.begin; block != ahead.end; ++block) {
      prefix& own = ahead.sums[block - ahead.begin];
      prefix after;
      try {
        after.emplace(work_.combined(*before, std::move(*own)));
      } catch (...) {
        ahead.end = block;
        return;
      }
      own = std::exchange(before, std::move(after));
    }
  }

  void scan_with_prefixes(block_sums& ahead) {
    const auto scan_one_block = [&, this](std::size_t block) { work_.scan(block, *ahead.sums[block - ahead.begin]); };
    for_blocks(ahead.begin, ahead.end, parts_, scan_one_block);
  }

  Work work_;
  const blocks& blocks_;
  ordered_parts parts_;
};

/// Scans all blocks of n elements. `before` as for scan_loop. Outside a runtime it enters the default one.
template <class T, class Work>
[[gnu::noinline]] void scan_slow(Work& work, const blocks& all, std::size_t n, std::optional<T>& before,
                                 loop_options options) {
  scan_loop<T, Work> loop(work, all, options.stop);
  pace& known = pace_of<Work>;
  const unsigned p = procs_for_loop();
  if (p == 0) {
    fj::run([&] { options.grain == 0 ? loop.run_alone(before, n, known) : loop.run(before); });
  } else if (options.grain != 0) {
    loop.run(before);
  } else if (p != 1 || options.stop) {
    loop.run_alone(before, n, known);
  } else {  // as begin_loop_slow
    const bool times = known.wants_more();
    if (times) detail::answer();
    const rest_of_loop rest{.begin = 0, .begun = times ? os::rough_ns() : 0};
    work.scan_blocks(0, all.count(), before);
    rest.end(n, known);
  }
}

/// The same. A scan that was very brief before is one part, without a fork.
template <class T, class Work>
[[gnu::always_inline]] inline void scan_all(Work& work, const blocks& all, std::size_t n, std::optional<T>& before,
                                            const loop_options& options) {
  if constexpr (is_observed) {
    fj::run([&] { scan_loop<T, Work>(work, all, options.stop).run(before); });
  } else {
    [[maybe_unused]] const inside_loop here;
    pace& known = pace_of<Work>;
    if (!detail::begins_very_brief_loop(n, options, known)) return detail::scan_slow<T>(work, all, n, before, options);
    work.scan_blocks(0, all.count(), before);
    detail::end_brief_part(known);
  }
}

/// Blocks of elements that an operation sums up. From a block's prefix on the elements' sums are computed one by one,
/// and two by two where in_steps.
template <scan_kind Kind, bool Exact, class T, class In, class Out, class Op>
class scan_of_elements {
 public:
  scan_of_elements(const In& in, const Out& out, const blocks& all, Op& op) noexcept
      : in_(in), out_(out), blocks_(all), op_(op) {}

  T sum_of(std::size_t block) { return sum_of(input(block), blocks_.size_of(block)); }

  T combined(T a, T b) { return static_cast<T>(std::invoke(op_, std::move(a), std::move(b))); }

  void scan(std::size_t block, T prefix) {
    scan_chain(input(block), output(block), blocks_.size_of(block), std::move(prefix));
  }

  /// Scans blocks whose first has a known prefix, and turns `before` into the prefix of the next. Not inlined: all
  /// parts run the same copy.
  [[gnu::noinline, gnu::hot]] void scan_blocks(std::size_t first, std::size_t last, std::optional<T>& before) {
    if constexpr (Exact) {
      In from = input(first);
      Out to = output(first);
      std::size_t n = blocks_.end(last - 1) - blocks_.begin(first);
      T acc = before ? std::move(*before) : write_first(from, to, n);
      before = scan_chain(from, to, n, std::move(acc));
    } else {
      for (; first != last; ++first) scan_block(first, before);
    }
  }

 private:
  void scan_block(std::size_t block, std::optional<T>& before) {
    In from = input(block);
    Out to = output(block);
    std::size_t n = blocks_.size_of(block);
    if (!before) {
      // The sums in the block start with its own first element, so its own sum is not among them if folded in steps.
      std::optional<T> own(sum_of(from, n));
      T acc = write_first(from, to, n);
      scan_chain(from, to, n, std::move(acc));
      before = std::move(own);
    } else {
      T own = scan_and_sum(from, to, n, *before);
      before = combined(std::move(*before), std::move(own));
    }
  }

  using element = scanned<T, In>;

  static constexpr auto get = [](const In& from) -> element { return static_cast<element>(*from); };

  // In steps a scan calls op more often, but takes less time.
  static constexpr bool in_steps = folded_in_steps<T, element> && !Exact;
  // Half of a fold's width: the chain needs registers, too.
  static constexpr std::size_t width = fold_width<T> / 2;

  // Writes the first element, which is the first sum, and steps over it.
  T write_first(In& from, Out& to, std::size_t& n) {
    T acc = static_cast<T>(read(from));
    *to = std::as_const(acc);
    ++from;
    ++to;
    --n;
    return acc;
  }

  // Scans n elements with the prefix acc, one by one or in steps, and returns the prefix of what follows. Sums are
  // passed by value: behind a reference the output might overlap them, and the compiler would keep them in memory.
  T scan_chain(In from, Out to, std::size_t n, T acc) {
    if constexpr (in_steps) {
      T step[width];
      for (; n >= width; n -= width) acc = scan_step(from, to, acc, step);
    }
    for (; n != 0; --n, static_cast<void>(++from), static_cast<void>(++to))
      acc = scan_one(std::move(acc), read(from), to);
    return acc;
  }

  template <class X>
  [[gnu::always_inline]] T scan_one(T acc, X&& x, const Out& to) {
    if constexpr (Kind == scan_kind::inclusive) {
      acc = static_cast<T>(std::invoke(op_, std::move(acc), std::forward<X>(x)));
      *to = std::as_const(acc);
      return acc;
    } else {
      T next = after(acc, std::forward<X>(x));
      *to = std::move(acc);
      return next;
    }
  }

  // Not inlined and hot for the reasons of detail::fold.
  [[gnu::noinline, gnu::hot]] T sum_of(In from, std::size_t n) {
    return detail::fold_in_steps<T, width, width>(from, n, get, op_);
  }

  // As scan_chain, but returns exactly what sum_of does. One loop does both, as a chain leaves most of the CPU's units
  // idle.
  T scan_and_sum(In from, Out to, std::size_t n, T acc) {
    if constexpr (in_steps) {
      if (n >= width) {
        T step[width];
        acc = scan_step(from, to, acc, step);
        step_fold<T, width, Op> own(step, op_);
        for (n -= width; n >= width; n -= width) {
          acc = scan_step(from, to, acc, step);
          own.take(step, op_);
        }
        return scan_and_sum_chain(from, to, n, acc, own.total(op_));
      }
    }
    T own = static_cast<T>(read(from));
    acc = scan_one(std::move(acc), read(from), to);
    ++from;
    ++to;
    --n;
    return scan_and_sum_chain(from, to, n, std::move(acc), std::move(own));
  }

  // Combines two elements before they enter the chain, whose latency bounds a scan of numbers. Reads the whole step
  // before it writes any of it, as the output may be the input.
  [[gnu::always_inline]] T scan_step(In& from, Out& to, T acc, T (&step)[width]) {
    detail::read_step(step, from, get);
    for (std::size_t i = 0; i != width; i += 2) {
      const T between = combined(acc, step[i]);
      const T next = combined(acc, combined(step[i], step[i + 1]));
      *to = Kind == scan_kind::inclusive ? between : acc;
      ++to;
      *to = Kind == scan_kind::inclusive ? next : between;
      ++to;
      acc = next;
    }
    return acc;
  }

  T scan_and_sum_chain(In from, Out to, std::size_t n, T acc, T own) {
    for (; n != 0; --n, static_cast<void>(++from), static_cast<void>(++to)) {
      own = static_cast<T>(std::invoke(op_, std::move(own), read(from)));
      acc = scan_one(std::move(acc), read(from), to);
    }
    return own;
  }

  static decltype(auto) read(const In& from) { return detail::element_at(from, get); }

  // acc stays as it is.
  template <class X>
  [[gnu::always_inline]] T after(const T& acc, X&& x) {
    if constexpr (std::is_invocable_r_v<T, Op&, const T&, X>) {
      return static_cast<T>(std::invoke(op_, acc, std::forward<X>(x)));
    } else {
      return static_cast<T>(std::invoke(op_, T(acc), std::forward<X>(x)));
    }
  }

  In input(std::size_t block) const { return detail::advanced(in_, blocks_.begin(block)); }
  Out output(std::size_t block) const { return detail::advanced(out_, blocks_.begin(block)); }

  const In& in_;
  const Out& out_;
  const blocks& blocks_;
  Op& op_;
};

/// Blocks that a body sums up and scans: body(begin, end, value, is_final). at(k) is the place of element k.
template <bool Exact, class T, class At, class Body, class Join>
class scan_by_body {
 public:
  scan_by_body(const At& at, const blocks& all, const T& identity, Body& body, Join& joins) noexcept
      : at_(at), blocks_(all), identity_(identity), body_(body), join_(joins) {}

  // Both not inlined: all blocks run the same copy of the user's code, made for this pass.
  [[gnu::noinline, gnu::hot]] T sum_of(std::size_t block) { return call(block, T(identity_), false); }

  [[gnu::noinline, gnu::hot]] void scan(std::size_t block, T prefix) {
    static_cast<void>(call(block, std::move(prefix), true));
  }

  T combined(T a, T b) { return static_cast<T>(std::invoke(join_, std::move(a), std::move(b))); }

  void scan_blocks(std::size_t first, std::size_t last, std::optional<T>& before) {
    for (; first != last; ++first) scan_block(first, before);
  }

 private:
  void scan_block(std::size_t block, std::optional<T>& before) {
    if constexpr (Exact) {
      before = call(block, std::move(*before), true);
    } else {
      T own = sum_of(block);  // before the body writes, perhaps over what it reads
      scan(block, *before);
      before = combined(std::move(*before), std::move(own));
    }
  }

  T call(std::size_t block, T value, bool is_final) {
    return static_cast<T>(
        std::invoke(body_, at_(blocks_.begin(block)), at_(blocks_.end(block)), std::move(value), is_final));
  }

  const At& at_;
  const blocks& blocks_;
  const T& identity_;
  Body& body_;
  Join& join_;
};

}}}  // namespace fj::v0_4::detail
