#include "bench/simulate/dag_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

namespace simulate {

namespace {

using nlohmann::json;

// What is more takes too long to simulate, or too much memory.
constexpr std::size_t most_steps = std::size_t{1} << 28;
constexpr double most_forks = 1e9, most_depth = 4e6, most_work_ns = 1e15;
constexpr int deepest_written = 1000;  // nodes within one another, in the file

struct invalid : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

class dag final : public kernel {
 public:
  dag(std::vector<step> steps, node root) : steps_(std::move(steps)), root_(root) {}

  node root() const override { return root_; }
  void at(node& self, unsigned phase, step& out) const override { out = steps_[self.kind + phase]; }

 private:
  const std::vector<step> steps_;  // of each node up to its end
  const node root_;
};

class reader {
 public:
  std::unique_ptr<kernel> read(const json& all) {
    if (!all.is_object() || all.value("forkjoin-dag", json()) != 1) throw invalid("it has no \"forkjoin-dag\": 1");
    const auto nodes = all.find("nodes");
    if (nodes == all.end() || !nodes->is_array() || nodes->empty())
      throw invalid("it has no \"nodes\", a list of one node or more");
    known_.reserve(nodes->size());
    for (const json& one : *nodes) {
      try {
        const part made = node_of(one, 0);
        check(made);
        known_.push_back(made);
      } catch (const invalid& what) {
        throw invalid("node " + std::to_string(known_.size()) + ": " + what.what());
      }
    }
    const node root = side_of(known_.back());
    return std::make_unique<dag>(std::move(steps_), root);
  }

 private:
  /// Work, a fork, or a node that is called.
  struct part {
    enum { works, forks, called } is = works;
    picoseconds work = 0;
    step fork;  // also of a call: its callee
    // Of the DAG: all that is in it.
    double all_forks = 0, depth = 1, all_work_ns = 0;
  };

  static void check(const part& all) {
    if (!(all.all_forks <= most_forks)) throw invalid("it has over 1,000,000,000 forks, more than can be simulated");
    if (!(all.depth <= most_depth)) throw invalid("its calls are over 4,000,000 deep, more than can be simulated");
    if (!(all.all_work_ns <= most_work_ns)) throw invalid("its work takes over 10^15 ns, more than can be simulated");
  }

  node add(const std::vector<step>& steps) {
    if (steps_.size() + steps.size() > most_steps) throw invalid("the file has more nodes than can be simulated");
    const auto first = static_cast<std::uint32_t>(steps_.size());
    steps_.insert(steps_.end(), steps.begin(), steps.end());
    return {first};
  }

  /// As a side of a fork, or the whole.
  node side_of(const part& one) {
    if (one.is == part::called) return one.fork.left;
    step end;
    end.ends(one.work);
    if (one.is == part::works) return add({end});
    return add({one.fork, end});
  }

  // An object, or the number of an earlier one.
  part part_of(const json& one, int depth) {
    if (!one.is_number_unsigned()) return node_of(one, depth);
    const auto number = one.get<std::uint64_t>();
    if (number >= known_.size())
      throw invalid("it has the node " + std::to_string(number) + ", which is none of those before it");
    return known_[static_cast<std::size_t>(number)];
  }

  part node_of(const json& one, int depth) {
    if (depth > deepest_written) throw invalid("it has over 1,000 nodes within one another; give them numbers");
    if (!one.is_object() || one.size() != 1)
      throw invalid("a node is {\"work_ns\": number}, or has one list: series, parallel, loop or scope");
    const std::string kind = one.begin().key();
    const json& value = one.begin().value();
    if (kind == "work_ns") return work_of(value);
    if (kind != "series" && kind != "parallel" && kind != "loop" && kind != "scope")
      throw invalid("a node is work_ns, series, parallel, loop or scope, and not \"" + kind + "\"");
    if (!value.is_array() || value.empty()) throw invalid("its " + kind + " is no list of nodes");
    std::vector<part> parts;
    parts.reserve(value.size());
    for (const json& each : value) parts.push_back(part_of(each, depth + 1));
    if (kind == "series") return series_of(parts);
    if (kind == "scope") return scope_of(parts);
    if (parts.size() == 1) return parts.front();
    if (parts.size() > most_steps) throw invalid("its " + kind + " has more nodes than can be simulated");
    const auto n = static_cast<std::uint32_t>(parts.size());
    return kind == "loop" ? loop_of(parts, n, 0, n) : branches_of(parts);
  }

  static part work_of(const json& value) {
    const double ns = value.is_number() ? value.get<double>() : -1;
    if (!(ns >= 0 && ns <= most_work_ns)) throw invalid("its work_ns is no number from 0 to 10^15");
    return {.is = part::works, .work = ps(ns), .fork = {}, .all_work_ns = ns};
  }

  /// Unless it is work alone.
  part called(const part& one) {
    if (one.is != part::forks) return one;
    part call = one;
    call.is = part::called;
    call.work = 0;
    call.fork.left = side_of(one);
    return call;
  }

  static void add_up(part& to, const part& more, double deeper) {
    to.all_forks += more.all_forks;
    to.all_work_ns += more.all_work_ns;
    to.depth = std::max(to.depth, more.depth + deeper);
  }

  part fork_of(const part& left, const part& right, const loop_parts& of, std::uint32_t iterations) {
    part fork{.is = part::forks, .fork = {}, .all_forks = 1};
    fork.fork.forks(0, side_of(left), side_of(right));
    fork.fork.parts = of;
    fork.fork.iterations = iterations;
    add_up(fork, left, 1);
    add_up(fork, right, 1);
    return fork;
  }

  part series_of(const std::vector<part>& parts) {
    std::vector<step> steps;
    part all{.is = part::called, .fork = {}};
    picoseconds work = 0;
    for (const part& one : parts) {
      add_up(all, one, one.is == part::called ? 1 : 0);
      check(all);
      work += one.work;
      if (one.is == part::works) continue;
      steps.push_back(one.fork);
      if (one.is == part::called) steps.back().calls(0, one.fork.left);
      steps.back().work = std::exchange(work, 0);
    }
    if (steps.empty()) return {.is = part::works, .work = work, .fork = {}, .all_work_ns = all.all_work_ns};
    steps.emplace_back().ends(work);
    all.fork.left = add(steps);
    return all;
  }

  // Two are a fork; more are a loop of forks with one join.
  part branches_of(const std::vector<part>& parts) {
    part rest = parts.back();
    for (std::size_t i = parts.size() - 1; i-- > 0;)
      rest = fork_of(parts[i], rest, {}, parts.size() > 2 ? static_cast<std::uint32_t>(parts.size() - 1 - i) : 0);
    return rest;
  }

  // As recording::halve.
  part loop_of(const std::vector<part>& parts, std::uint32_t size, std::uint32_t first, std::uint32_t last) {
    if (last - first == 1) return parts[first];
    const std::uint32_t middle = first + (last - first) / 2;
    return fork_of(loop_of(parts, size, first, middle), loop_of(parts, size, middle, last), {size, first, middle, last},
                   0);
  }

  // What follows a child is the rest of a loop of forks, which works before it forks the next child. More than work is
  // a call, as a rest has no fork beside that of the next child.
  part scope_of(const std::vector<part>& parts) {
    if (parts.size() % 2 == 0)
      throw invalid(
          "its scope has what the function does and its children in turn, and neither first nor last a child");
    part rest = parts.back();
    for (std::size_t i = parts.size() - 1; i > 0; i -= 2) {
      const bool one_join = parts.size() > 3;
      const part fork =
          fork_of(parts[i - 1], rest, {}, one_join ? static_cast<std::uint32_t>((parts.size() - i + 1) / 2) : 0);
      rest = series_of({one_join ? called(parts[i - 2]) : parts[i - 2], fork});
    }
    return rest;
  }

  std::vector<part> known_;
  std::vector<step> steps_;
};

}  // namespace

std::unique_ptr<kernel> read_dag(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::invalid_argument("cannot read the DAG in " + file + "; does it exist?");
  try {
    return reader().read(json::parse(in));
  } catch (const json::exception& what) {
    std::string words = what.what();  // it quotes the file, which may be no text
    std::ranges::replace_if(words, [](char c) { return c < ' ' || c > '~'; }, '?');
    throw std::invalid_argument(file + " is no DAG: " + words);
  } catch (const invalid& what) {
    throw std::invalid_argument(file + " is no DAG: " + what.what());
  }
}

}  // namespace simulate
