// A farm: rank 0 hands out pieces of a sum, a next one to each rank whose answer has come, and meanwhile computes
// pieces itself.
//
//   mpirun -n 4 farm [pieces]      default 100
#include <cstddef>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <forkjoin/mpi.hpp>
#include <functional>
#include <iostream>
#include <mutex>
#include <vector>

namespace {

constexpr int none = -1, length = 100'000;

double sum_of(int piece) {
  const auto add = [](int first, int last, double sum) {
    for (; first < last; ++first) sum += 1.0 / first;
    return sum;
  };
  return fj::parallel_reduce(piece * length + 1, (piece + 1) * length + 1, 0.0, add, std::plus<>());
}

// A rank that gets pieces.
void serve(const fj::mpi::session& mpi) {
  for (int piece = mpi.receive<int>(0); piece != none; piece = mpi.receive<int>(0)) {
    const double answer = sum_of(piece);
    MPI_Request sent = mpi.start_send(answer, 0);
    fj::mpi::wait(sent);
  }
}

// Rank 0. `next`: the first piece that nobody has; for the strand that hands out, and the one that computes.
double hand_out(const fj::mpi::session& mpi, int pieces) {
  const auto others = static_cast<std::size_t>(mpi.ranks() - 1);
  fj::mutex guard;
  int next = 0;
  const auto take = [&] {
    const std::lock_guard lock(guard);
    return next < pieces ? next++ : none;
  };

  std::vector<double> answers(others);
  std::vector<MPI_Request> to_come(others, MPI_REQUEST_NULL);
  const auto send = [&](std::size_t i) {
    const int piece = take(), to = static_cast<int>(i) + 1;
    if (piece != none) to_come[i] = mpi.start_receive(answers[i], to);
    mpi.send(piece, to);
  };
  const auto hand_out_all = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < others; ++i) send(i);
    for (std::size_t i; (i = fj::mpi::wait_any(to_come).index) < others; send(i)) sum += answers[i];
    return sum;
  };
  const auto compute = [&] {
    double sum = 0;
    for (int piece; (piece = take()) != none;) sum += sum_of(piece);
    return sum;
  };
  const auto [theirs, mine] = fj::fork_join(hand_out_all, compute);
  return theirs + mine;
}

}  // namespace

int main(int argc, char** argv) {
  const fj::mpi::session mpi;
  const int pieces = argc > 1 ? std::atoi(argv[1]) : 100;
  if (mpi.rank() != 0) {
    fj::run([&] { serve(mpi); });
    return 0;
  }
  std::cout.precision(9);
  std::cout << "1 + 1/2 + ... + 1/" << pieces * length << " = " << fj::run([&] { return hand_out(mpi, pieces); })
            << '\n';
  return 0;
}
