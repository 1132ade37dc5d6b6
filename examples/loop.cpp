// Loops over a container, prefix sums and sums. Usage: loop [n], default 1000000.

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <forkjoin/forkjoin.hpp>
#include <functional>
#include <iostream>
#include <memory>
#include <vector>

struct particle {
  double position = 0;
  double speed = 0;
  double energy() const { return speed * speed / 2; }
};

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  std::vector<particle> all(n);

  fj::run([&] {
    // By index, and by element.
    fj::parallel_for(0, n, [&](std::size_t i) { all[i].speed = std::sqrt(static_cast<double>(i % 100)); });
    for (int step = 0; step != 10; ++step) {
      fj::parallel_for(all, [](particle& p) { p.position += 0.1 * p.speed; });
    }

    // Prefix sums: where each particle's energy begins if all energies are put in a row.
    // Not vectors, which one P would fill with zeros first: that took half of the time.
    const auto energies = std::make_unique_for_overwrite<double[]>(n),
               begins = std::make_unique_for_overwrite<double[]>(n);
    fj::parallel_transform(all, energies.get(), &particle::energy);
    fj::parallel_exclusive_scan(energies.get(), energies.get() + n, begins.get(), 0.0);

    // A sum has the same bits on any number of processors.
    const double energy = fj::parallel_reduce(all, 0.0, std::plus<>(), &particle::energy);
    std::cout << n << " particles, energy " << energy << ", the last one's begins at " << (n ? begins[n - 1] : 0)
              << '\n';
  });
}
