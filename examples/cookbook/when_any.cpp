// The first of several answers: each fiber sends its own, or that it has none, into one channel. That has room for all,
// so that none waits for a receiver that has gone. The others are asked to stop, and their ends are awaited.

#include <chrono>
#include <forkjoin/go.hpp>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using request = std::function<std::string(fj::stop_token)>;

std::optional<std::string> first_answer(const std::vector<request>& requests) {
  const fj::channel<std::optional<std::string>> answers(requests.size());
  std::vector<fj::future<void>> asked;
  for (const request& each : requests) {
    asked.push_back(fj::go([&each, answers](fj::stop_token stop) {
      try {
        answers.send(each(stop));
      } catch (const std::exception&) {
        answers.send({});
      }
    }));
  }
  std::optional<std::string> first;
  for (auto left = requests.size(); left > 0 && !first; --left) first = *answers.receive();
  for (auto& each : asked) each.request_stop();
  for (auto& each : asked) each.get();
  return first;
}

int main() {
  const request far = [](fj::stop_token stop) { return fj::sleep_for(1h, {.stop = &stop}), "far"; };
  const request near = [](fj::stop_token stop) { return fj::sleep_for(1ms, {.stop = &stop}), "near"; };
  const request down = [](fj::stop_token) -> std::string { throw std::runtime_error("is down"); };
  std::cout << first_answer({far, down, near}).value_or("none") << '\n';
}
