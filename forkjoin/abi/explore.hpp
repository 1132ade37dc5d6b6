// Tries many schedules of a program, each in a copy of the process, and shortens the first that fails.
#pragma once

#include <cstdint>
#include <string>

#include "forkjoin/abi/options.hpp"

namespace fj { inline namespace v0_4 {

/// What fj::explore has found.
struct exploration {
  unsigned schedules = 0;    ///< how many seeds were tried, up to the first that fails
  unsigned different = 0;    ///< how many schedules that were: two seeds may have the same
  std::uint64_t seed = 0;    ///< of the one that fails; 0: none does
  std::string why = {};      ///< how it fails: a sentence
  std::string changes = {};  ///< of replay: the fewest that were found with which it fails
  bool repeats = true;  ///< false: the same seed gave another course, so the program depends on something outside of it

  bool failed() const noexcept { return seed != 0; }
};

namespace detail {

/// A program to explore: calls it, and returns its result as text.
struct explored_program {
  std::string (*call)(void* f);
  void* f;
};

exploration explore(explored_program program, unsigned schedules, const options& wanted);

}  // namespace detail

}}  // namespace fj::v0_4
