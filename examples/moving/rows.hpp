// The rows of a table of forkjoin/guide/moving.md: the same by another library, and here.
#pragma once

#include <cstdio>
#include <initializer_list>

struct row {
  const char* name;
  long (*theirs)();
  long (*ours)();
};

// Where the other way is no C++: what it gives.
struct own_row {
  const char* name;
  long (*ours)();
  long expected;
};

inline bool is_same(const char* name, long theirs, long ours) {
  std::printf("%s %ld\n", name, ours);
  if (theirs != ours) std::printf("%s: theirs is %ld\n", name, theirs);
  return theirs == ours;
}

// Runs each row, prints its name and its result, and returns 1 if a result differs.
inline int compare(std::initializer_list<row> rows) {
  int failed = 0;
  for (const row& each : rows) failed |= !is_same(each.name, each.theirs(), each.ours());
  return failed;
}
inline int compare(std::initializer_list<own_row> rows) {
  int failed = 0;
  for (const own_row& each : rows) failed |= !is_same(each.name, each.expected, each.ours());
  return failed;
}
