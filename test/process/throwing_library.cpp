#include "test/process/throwing.hpp"

long throwing::in_library(int depth, long number, thrower bad, std::atomic<long>& alive) {
  return leaves<in_program>(depth, number, bad, alive);
}
