// Heat that spreads in a square, on many machines: each rank of MPI has a strip of rows, and computes it on its P. The rows at
// the ends of a strip travel to the neighbors while a loop computes those between.
//
//   mpirun -n 4 heat [side [steps [overlap | after | alone]]]      default 200 100 overlap
//
// after: first the exchange, then the loop. alone: no exchange, and the check at the end finds it.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <iostream>
#include <string>
#include <utility>
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
  double* row(std::int64_t number) { return &now_[static_cast<std::size_t>((number - first_ + 1) * side_)]; }

  void compute(std::int64_t number) {
    const double *const above = row(number - 1), *const here = row(number), *const below = row(number + 1);
    double* const to = next_.data() + (here - now_.data());
    for (std::int64_t c = 1; c < side_ - 1; ++c) to[c] = 0.25 * (above[c] + below[c] + here[c - 1] + here[c + 1]);
  }
  void end_step() { now_.swap(next_); }

 private:
  std::int64_t side_, first_, last_;
  std::vector<double> now_, next_;
};

enum class way { overlap, after, alone };

void advance(strip& mine, int side, int steps, way how) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int above = rank == 0 ? MPI_PROC_NULL : rank - 1, below = rank == ranks - 1 ? MPI_PROC_NULL : rank + 1;
  enum tag { downwards, upwards };

  for (int step = 0; step < steps; ++step) {
    MPI_Request travelling[4];
    int count = 0;
    if (how != way::alone) {
      MPI_Irecv(mine.row(mine.first() - 1), side, MPI_DOUBLE, above, downwards, MPI_COMM_WORLD, &travelling[count++]);
      MPI_Irecv(mine.row(mine.last()), side, MPI_DOUBLE, below, upwards, MPI_COMM_WORLD, &travelling[count++]);
      MPI_Isend(mine.row(mine.first()), side, MPI_DOUBLE, above, upwards, MPI_COMM_WORLD, &travelling[count++]);
      MPI_Isend(mine.row(mine.last() - 1), side, MPI_DOUBLE, below, downwards, MPI_COMM_WORLD, &travelling[count++]);
    }
    const auto ends = [&] {
      fj::blocking([&] { MPI_Waitall(count, travelling, MPI_STATUSES_IGNORE); });
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
  return std::equal(mine.row(mine.first()), mine.row(mine.last()), whole.row(mine.first()));
}

}  // namespace

int main(int argc, char** argv) {
  // One strand of a rank at a time calls MPI, but not always from the same thread.
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int side = argc > 1 ? std::atoi(argv[1]) : 200, steps = argc > 2 ? std::atoi(argv[2]) : 100;
  const std::string word = argc > 3 ? argv[3] : "overlap";
  const way how = word == "alone" ? way::alone : word == "after" ? way::after : way::overlap;
  if (level < MPI_THREAD_SERIALIZED || side < ranks + 2) {
    if (rank == 0) std::cerr << "heat: this MPI knows no threads, or the square has fewer rows than there are ranks\n";
    MPI_Abort(MPI_COMM_WORLD, 2);
  }

  const int rows = side - 2;
  strip mine(side, 1 + std::int64_t{rows} * rank / ranks, 1 + std::int64_t{rows} * (rank + 1) / ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  const unsigned procs = fj::run([&] { return advance(mine, side, steps, how), fj::procs(); });
  MPI_Barrier(MPI_COMM_WORLD);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;

  int right = is_right(mine, side, steps), all_right = 0;
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (rank == 0) {
    std::cout << (all_right ? "right" : "wrong") << " on " << ranks << (ranks == 1 ? " rank" : " ranks") << " of "
              << procs << " P, " << took.count() << " ms\n";
  }
  MPI_Finalize();
  return all_right ? 0 : 1;
}
