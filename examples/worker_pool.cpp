// A pool of fibers that take jobs from a channel until they are told to stop. Each waits for a job or for the end,
// whichever comes first. Usage: worker_pool [jobs], default 1000.

#include <cstdlib>
#include <forkjoin/go.hpp>
#include <iostream>
#include <optional>
#include <vector>

int main(int argc, char** argv) {
  const int jobs = argc > 1 ? std::atoi(argv[1]) : 1000;
  const fj::channel<int> work(10), results(10), quit(0);

  std::vector<fj::future<int>> workers;
  for (int w = 0; w < 4; ++w) {
    workers.push_back(fj::go([=] {
      int done = 0;
      for (bool stopped = false; !stopped;) {
        fj::select(fj::on_receive(work,
                                  [&](std::optional<int> job) {
                                    results.send(*job * *job);
                                    ++done;
                                  }),
                   fj::on_receive(quit, [&](std::optional<int>) { stopped = true; }));
      }
      return done;
    }));
  }

  auto boss = fj::go([=] {
    for (int j = 0; j < jobs; ++j) work.send(j);
  });
  long sum = 0;
  for (int j = 0; j < jobs; ++j) sum += *results.receive();
  boss.get();
  quit.close();
  int done = 0;
  for (auto& each : workers) done += each.get();
  std::cout << done << " jobs, sum of the squares " << sum << '\n';
}
