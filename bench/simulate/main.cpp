// simulate <kernel>: runs a kernel's fork DAG on simulated processors, prints a table and, for the report, JSON.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/simulate/analysis.hpp"
#include "bench/simulate/costs.hpp"
#include "bench/simulate/dag_file.hpp"
#include "bench/simulate/kernel.hpp"
#include "bench/simulate/random_tree.hpp"
#include "bench/simulate/simulator.hpp"

namespace {

using namespace simulate;
using nlohmann::json;

struct arguments {
  std::string kernel;
  long size = 0;
  double serial_ms = 0;
  std::vector<unsigned> procs = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
  std::vector<std::string> steals = {"both"};
  adaptive_rule adapts;
  std::string costs_file, json_file, dag_file;
  std::uint64_t seed = 1;
  unsigned seeds = 1;
  unsigned nodes = 1;
  bool near_first = false;
  std::string start = "asleep";
  bool list = false, equal_forks = false;
};

void read_costs(const std::string& file, costs& cost, units& work) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read the costs in " + file + "; does it exist?");
  const json found = json::parse(in);
  const json known_costs = found.value("costs", json::object());
  const json known_work = found.value("work", json::object());
  for (const auto& [name, value] : known_costs.items()) set_cost(cost, name, value);
  for (const auto& [name, value] : known_work.items()) work.set(name, value);
}

void set_work(const std::string& wish, units& work) {
  const std::size_t equals = wish.find('=');
  if (equals != std::string::npos) {
    char* end = nullptr;
    const double value = std::strtod(wish.c_str() + equals + 1, &end);
    if (*end == '\0' && end != wish.c_str() + equals + 1) return work.set(wish.substr(0, equals), value);
  }
  throw std::invalid_argument("--work is \"" + wish + "\"; write it as fib.call=0.5, with nanoseconds");
}

double ms(picoseconds time) { return static_cast<double>(time) / 1e9; }

/// The runs of one setup by several seeds.
struct by_seeds {
  result median;  ///< of which the time is the median
  picoseconds least, greatest;
  std::vector<double> times_ns;  ///< a seed each
};

by_seeds run_all_seeds(const kernel& k, setup chosen, unsigned seeds) {
  std::vector<result> all;
  std::vector<double> times_ns;
  for (unsigned i = 0; i < seeds; ++i, ++chosen.seed) {
    all.push_back(simulate_run(k, chosen));
    times_ns.push_back(static_cast<double>(all.back().time) / 1e3);
  }
  std::ranges::sort(all, {}, &result::time);
  return {all[(all.size() - 1) / 2], all.front().time, all.back().time, times_ns};
}

json row_of(const setup& chosen, const by_seeds& found, picoseconds alone, const shape& of) {
  const result& r = found.median;
  const auto time = static_cast<double>(r.time);
  return {{"policy", name_of(chosen.steals)},
          {"procs", chosen.procs},
          {"awake", chosen.awake},
          {"time_ns", time / 1e3},
          {"least_time_ns", static_cast<double>(found.least) / 1e3},
          {"greatest_time_ns", static_cast<double>(found.greatest) / 1e3},
          {"times_ns", found.times_ns},
          {"speedup", static_cast<double>(of.work) / time},
          {"own_speedup", static_cast<double>(alone) / time},
          {"efficiency", static_cast<double>(of.work) / time / chosen.procs},
          {"steals", r.count.steals},
          {"far_steals", r.far_steals},
          {"deviations", r.deviations},
          {"repeated", r.repeated},
          {"returned", r.returned},
          {"late_ns", static_cast<double>(r.late) / 1e3},
          {"most_late_ns", static_cast<double>(r.most_late) / 1e3},
          {"common_lines_ns", static_cast<double>(r.waits.common) / 1e3},
          {"other_lines_ns", static_cast<double>(r.waits.others) / 1e3},
          {"suspensions", r.count.suspensions},
          {"join_waits", r.count.join_waits},
          {"resumptions", r.count.resumptions},
          {"exposures", r.count.exposures},
          {"publications", r.count.publications},
          {"slow_pushes", r.count.slow_pushes},
          {"slow_pops", r.count.slow_pops},
          {"parks", r.count.parks},
          {"wakeups", r.count.wakeups},
          {"peak_stacks", r.peak_stacks},
          {"deepest_deque", r.deepest_deque},
          {"deepest_stack", r.deepest_stack},
          {"peak_frames", r.peak_frames}};
}

void print_row(const json& row) {
  const auto n = [&row](const char* name) { return row.at(name).get<unsigned long long>(); };
  const auto time = [&row](const char* name) { return row.at(name).get<double>() / 1e6; };
  std::printf("%-13s %-6s %5llu %12.4f %12.4f %12.4f %8.2f %8.2f %9llu %9llu %9llu %9llu %8llu %8llu %7llu %7llu\n",
              row.at("policy").get<std::string>().c_str(), row.at("awake").get<bool>() ? "awake" : "asleep", n("procs"),
              time("time_ns"), time("least_time_ns"), time("greatest_time_ns"), row.at("speedup").get<double>(),
              row.at("own_speedup").get<double>(), n("steals"), n("far_steals"), n("suspensions"), n("join_waits"),
              n("exposures"), n("wakeups"), n("peak_stacks"), n("deepest_deque"));
  std::fflush(stdout);
}

json simulate_all(const arguments& given, const costs& cost, const units& work) {
  const auto made = given.dag_file.empty() ? make_kernel(given.kernel, given.size, work) : read_dag(given.dag_file);
  const std::string name = given.dag_file.empty() ? given.kernel : given.dag_file;
  const long size = given.dag_file.empty() ? size_of(given.kernel, given.size) : 0;
  const double factor = given.serial_ms > 0 ? given.serial_ms * 1e9 / static_cast<double>(analyse(*made).work) : 1;
  const scaled adjusted(*made, factor);
  const kernel* const k = given.serial_ms > 0 ? &adjusted : made.get();
  const shape of = analyse(*k);
  std::printf("%s%s: work %.3f ms, span %.3f us, parallelism %.0f; %llu forks, %llu calls, %llu deep\n", name.c_str(),
              size > 0 ? (" " + std::to_string(size)).c_str() : "", ms(of.work), ms(of.span) * 1e3, of.parallelism(),
              static_cast<unsigned long long>(of.forks), static_cast<unsigned long long>(of.nodes),
              static_cast<unsigned long long>(of.depth));
  std::printf("%-13s %-6s %5s %12s %12s %12s %8s %8s %9s %9s %9s %9s %8s %8s %7s %7s\n", "policy", "start", "P", "ms",
              "least", "greatest", "speed-up", "over 1 P", "steals", "far", "suspended", "waits", "forced", "wake-ups",
              "stacks", "deepest");
  json rows = json::array();
  std::vector<policy_name> policies(all_policies().begin(), all_policies().end());
  policies.push_back({name_of(policy::adaptive), policy::adaptive});
  const auto wants = [&given](std::string_view name) {
    return std::ranges::find(given.steals, name) != given.steals.end();
  };
  for (const auto& [name, steals] : policies) {
    const bool in_both = steals == policy::continuations || steals == policy::tasks;
    if (!wants(name) && !(wants("all") && steals != policy::adaptive) && !(wants("both") && in_both)) continue;
    for (const bool awake : {false, true}) {
      if (given.start == (awake ? "asleep" : "awake")) continue;
      setup chosen{.steals = steals,
                   .cost = cost,
                   .adapts = given.adapts,
                   .seed = given.seed,
                   .near_first = given.near_first,
                   .awake = awake};
      const picoseconds alone = simulate_run(*k, chosen).time;
      for (const unsigned procs : given.procs) {
        chosen.procs = procs;
        chosen.nodes = std::min(given.nodes, procs);
        rows.push_back(row_of(chosen, run_all_seeds(*k, chosen, procs == 1 ? 1 : given.seeds), alone, of));
        print_row(rows.back());
      }
    }
  }
  json all = {{"kernel", name},
              {"size", size},
              {"seed", given.seed},
              {"seeds", given.seeds},
              {"nodes", given.nodes},
              {"near_first", given.near_first},
              {"equal_forks", given.equal_forks},
              {"work_scaled_by", factor},
              {"work_ns", static_cast<double>(of.work) / 1e3},
              {"span_ns", static_cast<double>(of.span) / 1e3},
              {"burdened_span_ns", static_cast<double>(analyse(*k, ps(cost.of_theft())).span) / 1e3},
              {"parallelism", of.parallelism()},
              {"forks", of.forks},
              {"calls", of.nodes},
              {"depth", of.depth},
              {"forks_in_chain", forks_in_chain(*k)},
              {"runs", rows}};
  for (const cost_name& c : all_costs()) all["costs"][std::string(c.name)] = cost.*c.value;
  for (const unit& u : work.all()) all["work"][std::string(u.name)] = u.nanoseconds;
  if (name == "random_tree") {
    const tree_traits drawn = draw_traits(static_cast<std::uint64_t>(size));
    all["most_children"] = drawn.most_children;
    all["works_after"] = drawn.after > 0;
  }
  return all;
}

void list_all() {
  std::printf("kernels, with their size:\n");
  for (const kernel_name& k : all_kernels())
    std::printf("  %-22s %10ld  %s\n", std::string(k.name).c_str(), k.size, std::string(k.meaning).c_str());
  std::printf("costs:\n");
  const costs standard;
  for (const cost_name& c : all_costs())
    std::printf("  %-22s %10g  %s\n", std::string(c.name).c_str(), standard.*c.value, std::string(c.meaning).c_str());
  std::printf("work, in ns:\n");
  const units work;
  for (const unit& u : work.all())
    std::printf("  %-22s %10g  %s\n", std::string(u.name).c_str(), u.nanoseconds, std::string(u.meaning).c_str());
}

int run(int argc, char** argv) {
  arguments given;
  std::vector<std::string> single_work;
  CLI::App app("Runs a kernel's fork DAG on simulated processors. bench/simulate/README.md tells how far to trust it.");
  app.add_option("kernel", given.kernel, "see --list");
  app.add_option("--size", given.size, "of the kernel; 0: its own");
  app.add_option("--dag", given.dag_file,
                 "instead of a kernel: the DAG in that file, as forkjoin-profile --dag writes it");
  app.add_option("--serial-ms", given.serial_ms, "what the serial program takes; every step's work is scaled to it")
      ->check(CLI::PositiveNumber);
  app.add_option("--procs", given.procs, "numbers of processors, 1 to 4096")->delimiter(',');
  std::vector<std::string> policies = {"both", "all", std::string(name_of(policy::adaptive))};
  for (const policy_name& p : all_policies()) policies.emplace_back(p.name);
  app.add_option("--policy", given.steals,
                 "order and join, several with commas; both: continuations and tasks; all: of the library")
      ->delimiter(',')
      ->check(CLI::IsMember(policies));
  app.add_option("--interval", given.adapts.interval, "by adaptive: forks of a P after which it chooses its order anew")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--thefts", given.adapts.thefts,
                 "by adaptive: from the P in an interval, from which on it forks help-first");
  app.add_option("--costs", given.costs_file, "JSON file of costs and work, as calibrate writes it");
  app.add_option("--work", single_work, "NAME=NS: serial work, see --list");
  app.add_option("--json", given.json_file, "writes the results there");
  app.add_option("--seed", given.seed, "of the thieves' dice");
  app.add_option("--seeds", given.seeds, "how many, from that one on: the run of the median time is shown")
      ->check(CLI::Range(1, 1000));
  app.add_option("--nodes", given.nodes, "of memory: what thieves do across them takes longer, see the cost far")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--near-first", given.near_first, "thieves look at all deques of their own node before the others");
  app.add_flag("--equal-forks", given.equal_forks,
               "a fork by tasks costs as much as one by continuations: what differs then is not the code of a fork");
  app.add_option("--start", given.start, "the other workers when the job starts: a chain of wake-ups, or none")
      ->check(CLI::IsMember({"asleep", "awake", "both"}));
  app.add_flag_callback("--awake", [&given] { given.start = "awake"; }, "--start awake");
  app.add_flag("--list", given.list, "kernels, costs, and work");
  costs chosen;
  std::vector<std::pair<const cost_name*, double>> by_option;
  for (const cost_name& c : all_costs()) {
    std::string name = "--" + std::string(c.name);
    for (char& letter : name) letter = letter == '_' ? '-' : letter;
    app.add_option_function<double>(
           name, [&by_option, &c](double value) { by_option.emplace_back(&c, value); }, std::string(c.meaning))
        ->group("Costs");
  }
  CLI11_PARSE(app, argc, argv);
  if (given.list) {
    list_all();
    return 0;
  }
  if (given.kernel.empty() == given.dag_file.empty())
    throw std::invalid_argument("give a kernel, which --list names, or a DAG by --dag");
  units work;
  if (!given.costs_file.empty()) read_costs(given.costs_file, chosen, work);
  for (const auto& [cost, value] : by_option) set_cost(chosen, cost->name, value);
  if (given.equal_forks) chosen.fork_tasks = chosen.fork;
  for (const std::string& wish : single_work) set_work(wish, work);
  const json all = simulate_all(given, chosen, work);
  if (given.json_file.empty()) return 0;
  std::ofstream out(given.json_file);
  out << all.dump(1) << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write " + given.json_file);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "simulate: %s\n", e.what());
    return 1;
  }
}
