// A group of tasks in an object: members start tasks at any time, the destructor asks them to stop and waits.

#include <atomic>
#include <chrono>
#include <forkjoin/go.hpp>
#include <iostream>

class mail_box {
 public:
  void flush() { tasks_.wait(); }
  void send_later(std::chrono::nanoseconds delay, std::atomic<int>& sent) {
    // A fiber, because it waits; what only computes is a task: tasks_.run(f).
    static_cast<void>(tasks_.go([delay, &sent](fj::stop_token stop) {
      try {
        fj::sleep_for(delay, {.stop = &stop});
        ++sent;
      } catch (const fj::cancelled&) {}
    }));
  }

 private:
  fj::task_group tasks_;  // the last member, so that it is destroyed first
};

int main() {
  std::atomic<int> sent = 0;
  mail_box box;
  for (int i = 0; i < 10; ++i) box.send_later(std::chrono::milliseconds(1), sent);
  box.flush();
  box.send_later(std::chrono::hours(1), sent);
  std::cout << sent << " sent\n";
}
