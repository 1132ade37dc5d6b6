// The fork DAG of a kernel, generated while it is walked: fib(35) has 15 million forks, and none of them is stored.
//
// A node is one call of a function or closure of the program. It is walked as a list of steps: some serial work, then a
// plain call, or a fork of two nodes (fork_join(left, right)) with its join, or the end. A loop of forks is written as
// a fork of the first iteration and of its rest, a node that does nothing but fork the second iteration and the rest
// after it; the last iteration is itself.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/work.hpp"
#include "bench/kernels/common/random.hpp"

namespace simulate {

/// Simulated time. Picoseconds, because a fork takes some 1,500 of them; 64 bits last for a hundred days.
using picoseconds = std::int64_t;

/// A call, in the kernel's own code: calls with the same steps may have the same.
struct node {
  std::uint32_t kind = 0;
};

enum class then : std::uint8_t { end, call, fork };

/// Where the sides of a fork are parts of a loop over [0, size): the left one [first, middle), the right [middle,
/// last).
struct loop_parts {
  std::uint32_t size = 0;  ///< 0: they are not
  std::uint32_t first = 0, middle = 0, last = 0;

  auto operator<=>(const loop_parts&) const = default;

  bool are_all() const noexcept { return last - first == size; }
};

struct step {
  picoseconds work = 0;  ///< serial work before what follows
  then follows = then::end;
  node left;   ///< what is called, or the left side of a fork
  node right;  ///< the right side of a fork
  loop_parts parts{};
  std::uint32_t iterations = 0;  ///< of `right`, where it is the rest of a loop of forks with one join; else 0

  void ends(picoseconds after) noexcept {
    work = after;
    follows = then::end;
  }
  void calls(picoseconds after, const node& callee) noexcept {
    work = after;
    follows = then::call;
    left = callee;
  }
  void forks(picoseconds after, const node& first, const node& second) noexcept {
    work = after;
    follows = then::fork;
    left = first;
    right = second;
    parts = {};
    iterations = 0;
  }
  void forks(picoseconds after, const node& first, const node& second, const loop_parts& both) noexcept {
    forks(after, first, second);
    parts = both;
  }
};

class kernel {
 public:
  virtual ~kernel() = default;

  virtual node root() const = 0;

  /// The step number `phase`, from 0, of a call of `self`. The kernel may keep in `self` what later steps need; its
  /// steps depend on nothing else.
  virtual void at(node& self, unsigned phase, step& out) const = 0;
};

/// Of a loop whose first fork that is: the fork of which the section `number`, of `count`, is the left side, or the
/// right one if the number is odd. Its bits say where it lies, from the first fork on.
inline step fork_of_section(const kernel& k, step fork, unsigned number, unsigned count) {
  for (unsigned bit = count / 2; bit > 1; bit /= 2) {
    node half = number & bit ? fork.right : fork.left;
    k.at(half, 0, fork);
  }
  return fork;
}

/// Nanoseconds of serial work by name ("fib.call"): what one call, one element, one cell of a kernel takes.
struct unit {
  std::string_view name;
  double nanoseconds;
  std::string_view meaning;
};

class units {
 public:
  /// Estimates of what they take on some machine; a real program's time scales them all (see scaled).
  units();

  /// Throws std::invalid_argument for an unknown name or a value that is not a time.
  void set(std::string_view name, double nanoseconds);
  double nanoseconds(bench::unit of) const noexcept { return all_[static_cast<std::size_t>(of)].nanoseconds; }
  const std::vector<unit>& all() const noexcept { return all_; }

 private:
  std::vector<unit> all_;
};

struct kernel_name {
  std::string_view name;
  long size;  ///< if none is given
  long smallest, largest;
  std::string_view meaning;  ///< what it is, and what its size counts
  std::unique_ptr<kernel> (*make)(long size, const units& work);
};

const std::vector<kernel_name>& all_kernels();

/// size 0: the kernel's own. Throws std::invalid_argument for an unknown name or a size out of range.
std::unique_ptr<kernel> make_kernel(std::string_view name, long size, const units& work);

/// The same DAG with every step's work multiplied, so that the whole takes as long as a real program was measured to.
class scaled final : public kernel {
 public:
  scaled(const kernel& original, double factor) : original_(original), factor_(factor) {}

  node root() const override { return original_.root(); }
  void at(node& self, unsigned phase, step& out) const override {
    original_.at(self, phase, out);
    out.work = static_cast<picoseconds>(static_cast<double>(out.work) * factor_ + 0.5);
  }

 private:
  const kernel& original_;
  const double factor_;
};

/// A size of 0 replaced by the kernel's own.
long size_of(std::string_view name, long size);

/// From nanoseconds, rounded.
inline picoseconds ps(double nanoseconds) noexcept { return static_cast<picoseconds>(nanoseconds * 1000 + 0.5); }

using bench::random_at;

}  // namespace simulate
