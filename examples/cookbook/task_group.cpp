// A group of tasks in an object: members start tasks at any time, the destructor asks them to stop and waits. (A
// function joins the scope that it makes.) A task catches what it throws: a fiber without a future must not throw.

#include <atomic>
#include <chrono>
#include <forkjoin/go.hpp>
#include <iostream>

class mail_box {
 public:
  ~mail_box() {
    stop_.request_stop();
    flush();
  }
  void flush() { running_.wait(); }
  void send_later(std::chrono::nanoseconds delay, std::atomic<int>& sent) {
    running_.add();
    static_cast<void>(fj::go([this, delay, &sent] {
      try {
        fj::sleep_for(delay, {.stop = &token_});
        ++sent;
      } catch (const fj::cancelled&) {}
      running_.done();
    }));
  }

 private:
  fj::stop_source stop_;
  const fj::stop_token token_ = stop_.get_token();
  fj::wait_group running_;
};

int main() {
  std::atomic<int> sent = 0;
  mail_box box;
  for (int i = 0; i < 10; ++i) box.send_later(std::chrono::milliseconds(1), sent);
  box.flush();
  box.send_later(std::chrono::hours(1), sent);
  std::cout << sent << " sent\n";
}
