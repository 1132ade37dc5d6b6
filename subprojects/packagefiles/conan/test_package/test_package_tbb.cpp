#include <tbb/parallel_invoke.h>

int main() {
  int a = 0, b = 0;
  tbb::parallel_invoke([&] { a = 1; }, [&] { b = 2; });
  return a + b == 3 ? 0 : 1;
}
