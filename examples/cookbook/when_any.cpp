// The first of several answers: each fiber sends its own into one channel, which has room for all, so that none waits for a
// receiver that has gone. The others are asked to stop, and their ends are awaited.

#include <chrono>
#include <forkjoin/go.hpp>
#include <iostream>
#include <string>
#include <vector>

using namespace std::chrono_literals;

struct mirror {
  std::string name;
  std::chrono::nanoseconds takes;
};

std::string first_answer(const std::vector<mirror>& mirrors) {
  const fj::channel<std::string> answers(mirrors.size());
  std::vector<fj::future<void>> asked;
  for (const mirror& each : mirrors) {
    asked.push_back(fj::go([&each, answers](fj::stop_token stop) {
      try {
        fj::sleep_for(each.takes, {.stop = &stop});  // stands for a request
        answers.send(each.name);
      } catch (const fj::cancelled&) {}
    }));
  }
  const std::string first = *answers.receive();
  for (auto& each : asked) each.request_stop();
  for (auto& each : asked) each.get();
  return first;
}

int main() { std::cout << first_answer({{"far", 1h}, {"near", 1ms}, {"farther", 2h}}) << '\n'; }
