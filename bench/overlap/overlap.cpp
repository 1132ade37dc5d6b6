// What a wait for MPI costs, and how much of an exchange the work of the same P hides. On two ranks.
//
//   mpirun -n 2 <program> [rounds]
//
// ready      fj::mpi::wait for a request that has completed, beside MPI_Wait
// exchange   each rank sends to the other one and receives, `bytes` each way
// compute    a loop that takes about as long
// both       both, as two branches of a fork
//
// Figures are rank 0's medians of the rounds, with the least and the greatest. A round takes about 20 ms for each.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/mpi.hpp>
#include <vector>

namespace {

constexpr double series_us = 20'000;

template <class Call>
double us_of(long calls, const Call& call) {
  const auto begun = std::chrono::steady_clock::now();
  for (long i = 0; i < calls; ++i) call();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begun;
  return took.count() / static_cast<double>(calls);
}

struct figure {
  std::vector<double> rounds;

  void print(const char* format) {
    std::ranges::sort(rounds);
    std::printf(format, rounds[rounds.size() / 2], rounds.front(), rounds.back());
  }
};

// Each element takes about 100 ns.
void compute(std::int64_t elements) {
  fj::parallel_for(std::int64_t{0}, elements, [](std::int64_t i) {
    double x = static_cast<double>(i);
    for (int step = 0; step < 20; ++step) x = std::sqrt(x + 1);
    asm volatile("" : : "x"(x));
  });
}

class ranks {
 public:
  explicit ranks(const fj::mpi::session& mpi) : mpi_(mpi), other_(1 - mpi.rank()) {}

  double ready_ns(bool by_library) {
    char byte = 0, into = 0;
    constexpr long calls = 10'000;
    std::vector<MPI_Request> requests(calls);
    for (MPI_Request& each : requests) {
      each = mpi_.start_send(byte, mpi_.rank(), 1);
      mpi_.receive(into, mpi_.rank(), 1);
    }
    long next = 0;
    return 1'000 * us_of(calls, [&] {
             MPI_Request& request = requests[static_cast<std::size_t>(next++)];
             if (by_library)
               fj::mpi::wait(request);
             else
               MPI_Wait(&request, MPI_STATUS_IGNORE);
           });
  }

  void exchange() {
    MPI_Request both[] = {mpi_.start_receive(from_, other_), mpi_.start_send(to_, other_)};
    fj::mpi::wait_all(both);
  }

  void table(std::size_t bytes, int rounds) {
    to_.assign(bytes, 1);
    from_.assign(bytes, 0);
    const long calls = agreed(static_cast<long>(series_us / us_of(3, [&] { exchange(); })) + 1);
    figure exchange_us, compute_us, both_us, ratio;
    for (int round = 0; round < rounds; ++round) {
      mpi_.barrier();
      const double e = us_of(calls, [&] { exchange(); });
      mpi_.barrier();
      const double one = us_of(3, [] { compute(1'000); }) / 1'000;
      const long elements = agreed(std::max(1L, std::lround(e / one)));
      const double c = us_of(calls, [&] { compute(elements); });
      mpi_.barrier();
      const double b = us_of(calls, [&] { fj::fork_join([&] { exchange(); }, [&] { compute(elements); }); });
      exchange_us.rounds.push_back(e);
      compute_us.rounds.push_back(c);
      both_us.rounds.push_back(b);
      ratio.rounds.push_back(b / std::max(e, c));
    }
    if (mpi_.rank() != 0) return;
    std::printf("%9zu", bytes);
    for (figure* each : {&exchange_us, &compute_us, &both_us}) each->print("  %8.1f (%.1f..%.1f)");
    ratio.print("  %5.2f (%.2f..%.2f)\n");
    std::fflush(stdout);
  }

 private:
  // Rank 0's.
  long agreed(long number) {
    mpi_.broadcast(number);
    return number;
  }

  const fj::mpi::session& mpi_;
  const int other_;
  std::vector<char> to_, from_;
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  fj::default_options({.procs = 1});
  fj::mpi::session mpi;
  if (mpi.ranks() != 2 || rounds < 1) {
    if (mpi.rank() == 0) std::fprintf(stderr, "usage: mpirun -n 2 %s [rounds, above 0]\n", argv[0]);
    return 2;
  }
  fj::run([&] {
    ranks here(mpi);
    figure ours, theirs;
    for (int round = 0; round < rounds; ++round) {
      ours.rounds.push_back(here.ready_ns(true));
      theirs.rounds.push_back(here.ready_ns(false));
    }
    if (mpi.rank() == 0) {
      ours.print("ready: fj::mpi::wait %.0f (%.0f..%.0f) ns");
      theirs.print(", MPI_Wait %.0f (%.0f..%.0f) ns\n");
      std::puts(
          "    bytes            exchange, us            compute, us               both, us     both over the longer");
    }
    for (const std::size_t bytes : {4UL << 10, 64UL << 10, 1UL << 20, 4UL << 20}) here.table(bytes, rounds);
  });
}
