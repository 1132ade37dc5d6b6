// Runs a program on real workers that take turns, and writes what each P holds after each step, as JSON. ./dev steps
// shows it.
#include <CLI/CLI.hpp>
#include <forkjoin/run.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/steps/chooser.hpp"
#include "bench/steps/program.hpp"
#include "bench/steps/stage.hpp"

namespace steps {

static void to_json(nlohmann::json& to, const holdings& of) {
  to = {{"waiting", of.waiting}, {"stack", of.stack}, {"deque", of.deque}};
}

static void to_json(nlohmann::json& to, const row& of) { to = {{"what", of.what}, {"procs", of.procs}}; }

}  // namespace steps

int main(int argc, char** argv) {
  long size = 0;
  unsigned procs = 2, seed = 1;
  std::string policy = "continuations", file;
  CLI::App app("shows the steps of a small program");
  app.add_option("size", size, "the program's; without it, the program's own choice")->check(CLI::Range(1, 1'000'000));
  app.add_option("--procs", procs, "how many P")->check(CLI::Range(1, 64));
  app.add_option("--policy", policy, "what is pushed")->check(CLI::IsMember({"continuations", "tasks"}));
  auto* const by_seed = app.add_option("--seed", seed, "chooses the P that acts");
  app.add_option("--script", file, "a file with the Ps that act")->check(CLI::ExistingFile)->excludes(by_seed);
  CLI11_PARSE(app, argc, argv);

  steps::script script;
  try {
    std::ifstream in(file);
    if (!file.empty()) script = steps::parse_script({std::istreambuf_iterator<char>(in), {}}, procs);
  } catch (const std::invalid_argument& error) {
    std::cerr << file << ": " << error.what() << '\n';
    return 2;
  }

  steps::stage stage(policy == "tasks");
  steps::set_stage(stage);
  steps::chooser chooser(stage, std::move(script), seed);
  {
    const fj::detail::os::turns turns(&steps::chooser::next, &chooser);
    fj::runtime runtime({.procs = procs});
    runtime.run([&] {
      steps::program(size);
      chooser.stop();
    });
  }
  const nlohmann::json all = {{"size", size}, {"procs", procs}, {"policy", policy}, {"rows", chooser.rows()}};
  std::cout << all.dump() << '\n';
}
