// A program that looks at its own fibers: how many there are, where they wait, which are lost, and what its runtime
// did. Usage: look_inside

#include <forkjoin/forkjoin.hpp>
#include <forkjoin/go.hpp>
#include <forkjoin/trace.hpp>
#include <iostream>

void answer(const fj::channel<int>& questions) {
  fj::trace_name("answers");  // the name of this strand in a trace: FORKJOIN_TRACE=look.trace look_inside
  for (const int each : questions) {
    fj::trace_mark("a question");
    std::cout << "question " << each << '\n';
  }
}

int main() {
  fj::default_options({.procs = 2});  // before the first call that enters the default runtime
  fj::print_fibers_on(SIGQUIT);       // Ctrl-\ prints where each fiber waits

  fj::run([] {
    fj::channel<int> questions(0);
    auto answers = fj::go([=] { answer(questions); });
    questions.send(1);
    // The fiber of `answers` waits for the next question, or is about to.
    const fj::fiber_counts counts = fj::count_fibers();
    std::cout << counts.all() << " fibers\n";

    fj::print_fibers();  // to standard error; the same as a text:
    const std::string text = fj::describe_fibers();
    std::cout << (text.empty() ? "no text\n" : "a text\n");

    // None is lost: this function still has the channel.
    const fj::lost_report lost = fj::lost_fibers();
    if (lost.not_available.empty()) std::cout << lost.fibers.size() << " fibers are lost\n" << lost.text();

    questions.close();
    answers.get();
    const fj::runtime_ref here = fj::this_runtime();
    std::cout << here.procs() << " Ps, " << (here.stats().total().suspensions > 0 ? "some" : "no") << " waits\n";
  });
}
