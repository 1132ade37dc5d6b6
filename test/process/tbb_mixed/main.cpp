// One program of a source over this library's names and one over oneTBB: main [theirs first]
#include <cstdio>

long ours();
long theirs();

int main(int count, char**) {
  const bool theirs_first = count > 1;
  const long before = theirs_first ? theirs() : 0;
  const long here = ours();
  const long there = theirs_first ? before : theirs();
  std::printf("ours %ld, theirs %ld\n", here, there);
  return here == there ? 0 : 1;
}
