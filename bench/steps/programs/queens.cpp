// How many ways there are to place n queens on a board so that none attacks another, row by row.
#include <cstdlib>
#include <deque>
#include <vector>

#include "bench/steps/program.hpp"

namespace {

bool fits(const std::vector<long>& columns, long next) {
  const long row = static_cast<long>(columns.size());
  for (long i = 0; i != row; ++i)
    if (columns[static_cast<std::size_t>(i)] == next ||
        std::abs(columns[static_cast<std::size_t>(i)] - next) == row - i)
      return false;
  return true;
}

std::string board(const std::vector<long>& columns) {
  std::string text = "queens";
  for (const long column : columns) text += " " + std::to_string(column + 1);
  return text;
}

long queens(long n, const std::vector<long>& columns) {
  steps::call here(board(columns));
  if (static_cast<long>(columns.size()) == n) return here.returns(1);
  std::deque<long> ways;  // a child keeps the address of its own
  steps::forks all(here);
  for (long column = 0; column != n; ++column) {
    if (!fits(columns, column)) continue;
    std::vector<long> with = columns;
    with.push_back(column);
    long& found = ways.emplace_back(0);
    all.fork(board(with), [n, with, &found] { found = queens(n, with); });
  }
  all.join();
  long sum = 0;
  for (const long each : ways) sum += each;
  return here.returns(sum);
}

}  // namespace

void steps::program(long size) { queens(size == 0 ? 4 : size, {}); }
