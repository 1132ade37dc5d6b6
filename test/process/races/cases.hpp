// Small programs with and without races, each a function: race_cases_test.py runs them one by one.
//
//   CASE(name) {  // clean, or racy, or "racy, merged" where compilers that optimise merge the accesses of several
//                 // calls, or "racy, elsewhere" where a test of race_cases_test.py tells what is found
//     ++n;        // race: a b        the places of a race have two letters that follow each other; a line may be both
//
// Many are DataRaceBench's cases (Liao and others, "DataRaceBench: a benchmark suite for systematic evaluation of data
// race detection tools", 2017), written anew as forks; the number stands beside the name, as DRB001.
#pragma once

#include <cstddef>
#include <cstring>

namespace races_test {

struct named_case {
  const char* name;
  void (*run)();
  const named_case* next;
};

inline const named_case* all_cases = nullptr;

struct registered {
  explicit registered(named_case& one) {
    one.next = all_cases;
    all_cases = &one;
  }
};

/// Keeps compilers from computing what the accesses would give: a racing access that is optimised away is no race.
template <class T>
inline void use(T& x) {
  asm volatile("" : : "r"(&x) : "memory");
}

/// Keeps a number from being known.
template <class T>
inline T unknown(T x) {
  asm volatile("" : "+r"(x));
  return x;
}

}  // namespace races_test

#define CASE(NAME)                                                      \
  static void NAME();                                                   \
  static ::races_test::named_case case_##NAME{#NAME, &NAME, nullptr};   \
  static const ::races_test::registered registered_##NAME(case_##NAME); \
  static void NAME()
