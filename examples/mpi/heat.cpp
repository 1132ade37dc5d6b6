// Heat that spreads in a square, on many machines: each rank of MPI has a strip of rows, and computes it on its P. The
// rows at the ends of a strip travel to the neighbors while a loop computes those between.
//
//   mpirun -n 4 heat [side [steps [overlap | after | alone]]]      default 200 100 overlap
//
// after: first the exchange, then the loop. alone: no exchange, and the check at the end finds it.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/mpi.hpp>
#include <iostream>
#include <span>
#include <string>
#include <vector>

namespace {

// At the start: no two parts of the square are alike, so that a row from the wrong place, or of the wrong step, shows.
double at_start(std::int64_t row, std::int64_t column) {
  return static_cast<double>((row * 7'919 + column * 104'729) % 1'009);
}

// Rows [first, last) of the square, with one more above and below.
class strip {
 public:
  strip(std::int64_t side, std::int64_t first, std::int64_t last) : side_(side), first_(first), last_(last) {
    for (std::int64_t row = first - 1; row <= last; ++row)
      for (std::int64_t column = 0; column < side; ++column) now_.push_back(at_start(row, column));
    next_ = now_;  // the border of the square stays as it is
  }

  std::int64_t first() const { return first_; }
  std::int64_t last() const { return last_; }
  std::span<double> row(std::int64_t number) {
    return std::span(now_).subspan(static_cast<std::size_t>((number - first_ + 1) * side_),
                                   static_cast<std::size_t>(side_));
  }

  void compute(std::int64_t number) {
    const double *const above = row(number - 1).data(), *const here = row(number).data(),
                        *const below = row(number + 1).data();
    double* const to = next_.data() + (here - now_.data());
    for (std::int64_t c = 1; c < side_ - 1; ++c) to[c] = 0.25 * (above[c] + below[c] + here[c - 1] + here[c + 1]);
  }
  void end_step() { now_.swap(next_); }

 private:
  std::int64_t side_, first_, last_;
  std::vector<double> now_, next_;
};

enum class way { overlap, after, alone };

void advance(const fj::mpi::session& mpi, strip& mine, int steps, way how) {
  const int above = mpi.rank() == 0 ? MPI_PROC_NULL : mpi.rank() - 1;
  const int below = mpi.rank() == mpi.ranks() - 1 ? MPI_PROC_NULL : mpi.rank() + 1;
  enum tag { downwards, upwards };

  for (int step = 0; step < steps; ++step) {
    std::vector<MPI_Request> travelling;
    if (how != way::alone) {
      travelling = {mpi.start_receive(mine.row(mine.first() - 1), above, downwards),
                    mpi.start_receive(mine.row(mine.last()), below, upwards),
                    mpi.start_send(mine.row(mine.first()), above, upwards),
                    mpi.start_send(mine.row(mine.last() - 1), below, downwards)};
    }
    const auto ends = [&] {
      fj::mpi::wait_all(travelling);
      mine.compute(mine.first());
      mine.compute(mine.last() - 1);
    };
    const auto between = [&] {
      fj::parallel_for(mine.first() + 1, std::max(mine.first() + 1, mine.last() - 1),
                       [&](std::int64_t row) { mine.compute(row); });
    };
    if (how == way::after) {
      ends();
      between();
    } else {
      fj::fork_join(ends, between);
    }
    mine.end_step();
  }
}

// The same, serially and in whole: each value has to be the same, bit by bit.
bool is_right(strip& mine, int side, int steps) {
  strip whole(side, 1, side - 1);
  for (int step = 0; step < steps; ++step, whole.end_step())
    for (std::int64_t row = whole.first(); row < whole.last(); ++row) whole.compute(row);
  for (std::int64_t row = mine.first(); row < mine.last(); ++row)
    if (!std::ranges::equal(mine.row(row), whole.row(row))) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const fj::mpi::session mpi;
  const int side = argc > 1 ? std::atoi(argv[1]) : 200, steps = argc > 2 ? std::atoi(argv[2]) : 100;
  const std::string word = argc > 3 ? argv[3] : "overlap";
  const way how = word == "alone" ? way::alone : word == "after" ? way::after : way::overlap;
  if (side < mpi.ranks() + 2) {
    if (mpi.rank() == 0) std::cerr << "heat: the square has fewer rows than there are ranks\n";
    return 2;
  }

  const int rows = side - 2;
  strip mine(side, 1 + std::int64_t{rows} * mpi.rank() / mpi.ranks(),
             1 + std::int64_t{rows} * (mpi.rank() + 1) / mpi.ranks());
  mpi.barrier();
  const auto begin = std::chrono::steady_clock::now();
  const unsigned procs = fj::run([&] { return advance(mpi, mine, steps, how), fj::procs(); });
  mpi.barrier();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;

  int right = is_right(mine, side, steps);
  mpi.all_reduce(right, MPI_MIN);
  if (mpi.rank() == 0) {
    std::cout << (right ? "right" : "wrong") << " on " << mpi.ranks() << (mpi.ranks() == 1 ? " rank" : " ranks")
              << " of " << procs << " P, " << took.count() << " ms\n";
  }
  return right ? 0 : 1;
}
