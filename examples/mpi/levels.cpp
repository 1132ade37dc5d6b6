// What the levels of threads cost in MPI: rank 0 sends eight bytes at a time to rank 1, and the time of a message is
// printed.
//
//   mpirun -n 2 levels [single | serialized | multiple [branches [messages]]]      default single 1 64000
//
// With more branches than one, which MPI_THREAD_MULTIPLE alone allows, each has a tag of its own, and all call MPI at
// once.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <functional>
#include <iostream>
#include <limits>
#include <string>

namespace {

constexpr int window = 64, rounds = 20;

// Returns the sum of what rank 1 got, which it also sends back.
long send_windows(int rank, int tag, int windows) {
  long sum = 0;
  std::array<long, window> numbers;
  std::array<MPI_Request, window> under_way;
  for (int w = 0; w < windows; ++w) {
    for (std::size_t i = 0; i < window; ++i) {
      if (rank == 0) {
        numbers[i] = static_cast<long>(i) + w;
        MPI_Isend(&numbers[i], 1, MPI_LONG, 1, tag, MPI_COMM_WORLD, &under_way[i]);
      } else {
        MPI_Irecv(&numbers[i], 1, MPI_LONG, 0, tag, MPI_COMM_WORLD, &under_way[i]);
      }
    }
    MPI_Waitall(window, under_way.data(), MPI_STATUSES_IGNORE);
    for (const long each : numbers) sum += each;
  }
  if (rank == 1) MPI_Send(&sum, 1, MPI_LONG, 0, tag, MPI_COMM_WORLD);
  long theirs = sum;
  if (rank == 0) MPI_Recv(&theirs, 1, MPI_LONG, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return theirs == sum ? sum : -1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "single";
  const int branches = argc > 2 ? std::atoi(argv[2]) : 1, messages = argc > 3 ? std::atoi(argv[3]) : 64'000;
  const int wanted = word == "single"     ? MPI_THREAD_SINGLE
                     : word == "multiple" ? MPI_THREAD_MULTIPLE
                                          : MPI_THREAD_SERIALIZED;
  int level = 0, rank = 0, ranks = 0;
  MPI_Init_thread(&argc, &argv, wanted, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (level < wanted || ranks != 2 || (branches > 1 && wanted != MPI_THREAD_MULTIPLE)) {
    if (rank == 0) std::cerr << "levels: two ranks, an MPI that has the level, and one branch or the level multiple\n";
    MPI_Abort(MPI_COMM_WORLD, 2);
  }

  const int windows = std::max(1, messages / window / rounds / branches);
  const auto stream = [&](int tag) { return send_windows(rank, tag, windows); };
  const auto streams = [&] {
    return fj::fork_reduce(0, branches, 0L, std::plus<>(),
                           [&](int tag) { return fj::blocking([&] { return stream(tag); }); });
  };
  bool right = true;
  double least = std::numeric_limits<double>::max();
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    const long sum = wanted == MPI_THREAD_SINGLE ? stream(0) : fj::run(streams);  // single: without a runtime
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count() / windows / window / branches);
    right &= sum == long{branches} * window * windows * (window - 1 + windows - 1) / 2;
  }
  if (rank == 0)
    std::cout << word << ", " << branches << (right ? ": right, " : ": wrong, ") << least << " ns a message\n";
  MPI_Finalize();
  return right ? 0 : 1;
}
