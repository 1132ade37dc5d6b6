// Which processor has which cache line, and how long another one waits for it. A line of the simulation's own memory
// stands for one of the library's: the rules' types have the same fields here, and are aligned alike.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "bench/simulate/prices.hpp"
#include "forkjoin/abi/cache_line.hpp"

namespace simulate {

enum class line_use : std::uint8_t {
  load,
  store,  ///< the processor does not wait for the line
  update  ///< a read-modify-write: it waits, and others that want the line wait for it
};

/// As caches keep them: a line is with the one processor that wrote it last, and with those that have read it since.
class cache_lines {
 public:
  /// How long processors waited for lines.
  struct waits {
    picoseconds common = 0, others = 0;
  };

  /// Each of the sockets has as many of the `count` processors, one more at the most; and as many to a complex as the
  /// costs say.
  cache_lines(const prices& cost, unsigned count, unsigned sockets)
      : cost_(cost), count_(count), sockets_(sockets), last_(count) {}

  /// Whether any of it takes time.
  bool cost_anything() const noexcept {
    return count_ > 1 && (cost_.line > 0 || cost_.complex_line > 0 || cost_.socket_line > 0);
  }

  /// All workers share what lies there, and no other cost includes a transfer of its lines.
  void add_common(const void* begin, std::size_t size) {
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    common_.push_back({first / line_size, (first + size - 1) / line_size});
  }

  /// How long the processor `who` waits that wants to access the address at that time.
  picoseconds wait(const void* address, line_use how, unsigned who, picoseconds now) {
    const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(address) / line_size;
    recent& last = last_[who];
    if (last.number != number) last = {number, &lines_[number]};
    line& of = *last.entry;
    if (of.writer == nobody) of.writer = who;
    if (how == line_use::load ? of.writer == who || of.is_reader(who) : of.writer == who && of.readers.empty())
      return 0;
    const picoseconds begin = std::max(now, of.busy_until);
    const picoseconds time = how == line_use::load ? time_to_read(of, who) : time_to_write(of, who);
    if (how == line_use::load) {
      of.add_reader(who, count_);
    } else {
      of.readers.clear();
      of.writer = who;
      of.busy_until = begin + time;
    }
    if (how == line_use::store) return 0;
    const bool common = is_common(number);
    const picoseconds all = begin - now + (common ? time : std::max<picoseconds>(time - cost_.line, 0));
    (common ? waits_.common : waits_.others) += all;
    return all;
  }

  const waits& waited() const noexcept { return waits_; }

 private:
  static constexpr std::uintptr_t line_size = fj::detail::cache_line;
  static constexpr unsigned nobody = ~0u;

  struct line {
    unsigned writer = nobody;
    picoseconds busy_until = 0;          // while it goes to a processor that writes it
    std::vector<std::uint64_t> readers;  // a bit each

    bool is_reader(unsigned who) const noexcept { return !readers.empty() && (readers[who / 64] >> who % 64 & 1) != 0; }
    void add_reader(unsigned who, unsigned count) {
      readers.resize((count + 63) / 64);
      readers[who / 64] |= std::uint64_t{1} << who % 64;
    }
  };

  struct recent {
    std::uintptr_t number = 0;
    line* entry = nullptr;
  };

  picoseconds distance(unsigned a, unsigned b) const noexcept {
    if (a == b) return 0;
    if (a * sockets_ / count_ != b * sockets_ / count_) return cost_.socket_line;
    return a / cost_.complex == b / cost_.complex ? cost_.line : cost_.complex_line;
  }

  // From the writer, or from a reader of the same complex.
  picoseconds time_to_read(const line& of, unsigned who) const noexcept {
    const picoseconds from_writer = distance(who, of.writer);
    const unsigned first = who / cost_.complex * cost_.complex, end = std::min(first + cost_.complex, count_);
    for (unsigned other = first; other < end; ++other)
      if (of.is_reader(other)) return std::min(from_writer, distance(who, other));
    return from_writer;
  }

  // All other copies go.
  picoseconds time_to_write(const line& of, unsigned who) const noexcept {
    picoseconds longest = distance(who, of.writer);
    for (std::size_t i = 0; i < of.readers.size(); ++i)
      for (std::uint64_t left = of.readers[i]; left != 0 && longest < cost_.socket_line; left &= left - 1)
        longest = std::max(longest, distance(who, static_cast<unsigned>(64 * i) + std::countr_zero(left)));
    return longest;
  }

  bool is_common(std::uintptr_t number) const noexcept {
    return std::ranges::any_of(common_, [&](const auto& c) { return c.first <= number && number <= c.last; });
  }

  struct range {
    std::uintptr_t first, last;
  };

  const prices cost_;
  const unsigned count_, sockets_;
  std::unordered_map<std::uintptr_t, line> lines_;
  std::vector<recent> last_;  // of each processor: an owner uses one line again and again
  std::vector<range> common_;
  waits waits_;
};

}  // namespace simulate
