#pragma once

#include <chrono>

namespace tbb {

class tick_count {
 public:
  class interval_t {
   public:
    interval_t() = default;
    explicit interval_t(double seconds) : seconds_(seconds) {}
    double seconds() const noexcept { return seconds_; }
    interval_t& operator+=(const interval_t& other) {
      seconds_ += other.seconds_;
      return *this;
    }
    interval_t& operator-=(const interval_t& other) {
      seconds_ -= other.seconds_;
      return *this;
    }
    friend interval_t operator+(const interval_t& a, const interval_t& b) {
      return interval_t(a.seconds_ + b.seconds_);
    }
    friend interval_t operator-(const interval_t& a, const interval_t& b) {
      return interval_t(a.seconds_ - b.seconds_);
    }

   private:
    double seconds_ = 0;
  };

  static tick_count now() {
    tick_count t;
    t.at_ = std::chrono::steady_clock::now();
    return t;
  }
  static double resolution() { return 1e-9; }
  friend interval_t operator-(const tick_count& a, const tick_count& b) {
    return interval_t(std::chrono::duration<double>(a.at_ - b.at_).count());
  }

 private:
  std::chrono::steady_clock::time_point at_{};
};

}  // namespace tbb
