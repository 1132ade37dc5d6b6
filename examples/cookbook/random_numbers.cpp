// Random numbers in a tree of forks: each branch has a generator of its own, split off before the fork. So the numbers
// depend on the tree alone, not on P. The generator is SplitMix (Steele, Lea, Flood: OOPSLA 2014).

#include <bit>
#include <cstdint>
#include <forkjoin/forkjoin.hpp>
#include <iostream>

class splittable {
 public:
  explicit splittable(std::uint64_t seed, std::uint64_t gamma = 0x9e3779b97f4a7c15) : seed_(seed), gamma_(gamma) {}

  std::uint64_t operator()() { return mixed(seed_ += gamma_, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb); }
  splittable split() {
    const std::uint64_t seed = (*this)(), gamma = mixed(seed_ += gamma_, 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53) | 1;
    return splittable(seed, std::popcount(gamma ^ (gamma >> 1)) < 24 ? gamma ^ 0xaaaaaaaaaaaaaaaa : gamma);
  }

 private:
  static std::uint64_t mixed(std::uint64_t x, std::uint64_t a, std::uint64_t b) {
    x = (x ^ (x >> 30)) * a, x = (x ^ (x >> 27)) * b;
    return x ^ (x >> 31);
  }
  std::uint64_t seed_, gamma_;
};

// How many of n points lie in a quarter of the unit circle?
long hits(long n, splittable random) {
  if (n == 1) {
    const std::uint64_t x = random() >> 33, y = random() >> 33;
    return x * x + y * y < std::uint64_t{1} << 62;
  }
  const splittable other = random.split();
  auto [a, b] = fj::fork_join([=] { return hits(n / 2, random); }, [=] { return hits(n - n / 2, other); });
  return a + b;
}

int main() {
  std::cout << fj::run([] { return hits(1'000'000, splittable(1)); }) << " of a million\n";
}
