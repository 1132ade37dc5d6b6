// Runs a scenario over and over, each time in another interleaving.
//
//   <program> <scenario> [--interleavings n] [--expect-failure] [--history]
//
// --expect-failure: the program under test has a seeded bug, and it is a failure not to find it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

#include "test/model/scenario.hpp"
#include "test/model/search.hpp"

namespace model { namespace {

const named_scenario* chosen = nullptr;
alignas(64) std::byte storage[scenario_size];

struct suite : rl::test_suite<suite, threads> {
  suite() {
    system_state = {};
    for (interrupts& each : interrupted) each = {};
    running = chosen->make(storage);
  }
  ~suite() { running->~scenario(); }

  void thread(unsigned index) {
    running->thread(index);
    fence();  // nothing of an ended thread is under way any longer
    system_state.ended[index] = true;
  }
  void after() { running->after(); }

  scenario* running = nullptr;
};

using context = rl::context_impl<suite, random_search<threads>>;

// Returns the result; the text of a failure goes to params.output_stream if params.collect_history.
rl::test_result_e run(rl::test_params& params, std::uint64_t first) {
  rl::ostringstream ignored;  // Relacy's streams and strings: it takes the global operator new for the model's own
  rl::istringstream from(std::to_string(first).c_str());
  random_search<threads>::shared_context_t tasks;
  return context(params, tasks).simulate(ignored, from, params.collect_history);
}

int usage() {
  std::cerr << "usage: <program> <scenario> [--interleavings n] [--expect-failure] [--history]\nscenarios:";
  for (const named_scenario* s = scenarios; s->name; ++s) std::cerr << ' ' << s->name;
  std::cerr << '\n';
  return 2;
}

}}  // namespace model

int main(int argc, char** argv) {
  using namespace model;
  bool expect_failure = false, history = false;
  unsigned interleavings = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--expect-failure")) {
      expect_failure = true;
    } else if (!std::strcmp(argv[i], "--history")) {
      history = true;
    } else if (!std::strcmp(argv[i], "--interleavings") && i + 1 < argc) {
      interleavings = static_cast<unsigned>(std::atoi(argv[++i]));
    } else {
      for (const named_scenario* s = scenarios; s->name; ++s)
        if (!std::strcmp(argv[i], s->name)) chosen = s;
      if (!chosen) return usage();
    }
  }
  if (!chosen) return usage();

  rl::test_params params;
  rl::ostringstream progress, text;
  params.progress_stream = &progress;
  params.output_stream = &text;
  params.search_type = rl::random_scheduler_type;  // the kind of ours
  params.iteration_count = interleavings ? interleavings : chosen->interleavings;
  const auto start = std::chrono::steady_clock::now();
  const rl::test_result_e result = run(params, 1);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << chosen->name << ": " << params.stop_iteration << " interleavings, " << seconds << " s: ";
  if (result == rl::test_result_success) {
    std::cout << (expect_failure ? "the bug was not found\n" : "clean\n");
    return expect_failure;
  }

  // Once more, for the name of the property and the steps that led there.
  params.collect_history = true;
  run(params, params.stop_iteration);
  const rl::string all = text.str();
  std::cout << all.substr(0, all.find('\n')) << '\n';
  if (history) std::cout << all;
  // A thread that follows the links of frames that are gone reads freed memory, and one that waits in a loop for what
  // never comes ends as a livelock; without the bug there is none. Any other result may be the model's fault.
  const bool found = result == rl::test_result_user_assert_failed || result == rl::test_result_data_race ||
                     result == rl::test_result_access_to_freed_memory || result == rl::test_result_livelock;
  return !(expect_failure && found);
}
