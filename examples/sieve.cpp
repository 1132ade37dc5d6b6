// A prime sieve: a chain of fibers, each of which passes on what its prime does not divide. Usage: sieve [n], default
// 100: the n-th prime number.

#include <cstdlib>
#include <forkjoin/go.hpp>
#include <iostream>

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 100;
  int prime = 0;
  {
    fj::runtime rt;  // when it ends, it asks all fibers to stop
    fj::channel<int> numbers(16);
    static_cast<void>(rt.go([out = numbers](fj::stop_token stop) {
      try {
        for (int i = 2;; ++i) out.send(i, {.stop = &stop});
      } catch (const fj::cancelled&) {}
    }));
    for (int i = 0; i < n; ++i) {
      prime = *numbers.receive();
      fj::channel<int> filtered(16);
      static_cast<void>(rt.go([in = numbers, out = filtered, prime](fj::stop_token stop) {
        try {
          for (;;) {
            const int each = *in.receive({.stop = &stop});
            if (each % prime != 0) out.send(each, {.stop = &stop});
          }
        } catch (const fj::cancelled&) {}
      }));
      numbers = filtered;
    }
  }
  std::cout << "prime number " << n << " is " << prime << '\n';
}
