// A DAG of one's own, from a file: README.md has the format. `forkjoin-profile --dag FILE` writes that of a program.
#pragma once

#include <memory>
#include <string>

#include "bench/simulate/kernel.hpp"

namespace simulate {

/// Throws std::invalid_argument, with the file's name and the node in its words, unless that is such a file and its DAG
/// can be simulated.
std::unique_ptr<kernel> read_dag(const std::string& file);

}  // namespace simulate
