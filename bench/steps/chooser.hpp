// Who goes on: by a script, or by a seed. One worker acts until something changes that the rows show.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "bench/steps/stage.hpp"
#include "runtime/os/turns.hpp"

namespace steps {

/// What a worker did, or several of them did one after another, and what each P holds after it.
struct row {
  std::vector<std::string> what;  ///< a sentence for each worker
  std::vector<holdings> procs;
};

/// Which P act, row by row.
using script = std::vector<std::vector<unsigned>>;

/// "1 2 1+2": one row for each word; numbers of Ps from 1, and `#` begins a comment that ends with the line. Throws
/// std::invalid_argument if it is something else.
script parse_script(const std::string& text, unsigned procs);

class chooser {
 public:
  /// Without a script the seed chooses the P that acts; with one, from where it ends.
  chooser(stage& of, script wanted, unsigned seed) : stage_(of), script_(std::move(wanted)), dice_(seed) {}

  /// For os::turns.
  static fj::detail::os::turns::taker& next(void* self, fj::detail::os::turns::taker& first,
                                            fj::detail::os::turns::cause why) noexcept {
    // The rows are between whole forks and joins.
    if (why == fj::detail::os::turns::cause::point) return *fj::detail::os::turns::self();
    return static_cast<chooser*>(self)->choose(first);
  }

  /// The program is over: nothing is shown any more.
  void stop() noexcept { shows_ = false; }
  const std::vector<row>& rows() const noexcept { return rows_; }

 private:
  using taker = fj::detail::os::turns::taker;

  taker& choose(taker& first) noexcept;
  void look();
  unsigned pick(taker& first);
  bool can_act(const taker& t) const;
  taker* of_proc(taker& first, unsigned proc) const;
  taker* between_procs(taker& first);
  taker& any(taker& first);

  stage& stage_;
  const script script_;
  std::mt19937 dice_;
  std::vector<row> rows_;
  std::size_t word_ = 0, in_word_ = 0;  // of the script
  bool shows_ = true;
  unsigned acting_ = 0;  // a P, or stage::none
  unsigned turn_ = 0;    // in which those went on that hold no P, or find nothing
};

}  // namespace steps
