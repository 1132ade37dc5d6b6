// Waits for the first of several things: of futures, of a future and a time, of a pipe that gets data. Usage: first_of

#include <unistd.h>

#include <chrono>
#include <forkjoin/go.hpp>
#include <iostream>
#include <vector>

using namespace std::chrono_literals;

int slow_answer(int ms, int value, const fj::stop_token& stop) {
  try {
    fj::sleep_for(std::chrono::milliseconds(ms), {.stop = &stop});
  } catch (const fj::cancelled&) {}
  return value;
}

void of_futures() {
  std::vector<fj::future<int>> answers;
  for (const int ms : {60'000, 1, 60'000})
    answers.push_back(fj::go([=](fj::stop_token stop) { return slow_answer(ms, ms, stop); }));
  const std::size_t first = fj::wait_any(answers);
  for (auto& each : answers) each.request_stop();  // and the others end, too
  for (auto& each : answers) each.wait();
  std::cout << "answer " << first << " was the first\n";
}

void of_a_future_and_a_time() {
  fj::future<int> answer = fj::go([](fj::stop_token stop) { return slow_answer(60'000, 1, stop); });
  fj::select(fj::on_ready(answer, [&] { std::cout << "answered\n"; }),
             fj::after(1ms, [] { std::cout << "too late\n"; }));
  answer.request_stop();
  answer.wait();
}

void of_a_pipe() {
  int ends[2];
  if (::pipe(ends) != 0) return;
  auto writer = fj::go([&] {
    fj::writable(ends[1]);  // now there is room: the system call does not block
    if (::write(ends[1], "x", 1) != 1) std::cerr << "nothing was written\n";
  });
  fj::readable(ends[0], {.until = fj::now() + 60s});
  char byte = 0;
  // This call certainly blocks its thread for a while: another thread takes over the P at once.
  const auto got = fj::blocking_now([&] { return ::usleep(1000), ::read(ends[0], &byte, 1); });
  writer.get();
  std::cout << got << " byte: " << byte << '\n';
  ::close(ends[0]);
  ::close(ends[1]);
}

int main() {
  fj::run([] {
    of_futures();
    of_a_future_and_a_time();
    of_a_pipe();
  });
}
