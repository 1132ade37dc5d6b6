// A health system of villages with a hospital each, simulated day by day, after the program `health` of the Barcelona
// OpenMP Tasks Suite (Duran, Teruel, Ferrer, Martorell, Ayguade, ICPP 2009): a loop over the villages below a village,
// and after its end the village itself. People are in linked lists. In the suite the villages below push patients into
// a list of the one above under a lock; here each has a list for them, which the one above empties after the loop, so
// that the result does not depend on the schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/harness/work.hpp"
#include "bench/kernels/common/random.hpp"

namespace bench::health {

inline constexpr int levels = 4;
inline constexpr int villages_below = 20;  // each village that is not of level 1
inline constexpr int people_per_doctor = 10;
inline constexpr double falls_ill = 0.005;      // a healthy person, in a day
inline constexpr double needs_treatment = 0.3;  // after the examination
inline constexpr double is_sent_up = 0.15;      // of those that need treatment
inline constexpr int days_of_examination = 3;
inline constexpr int days_of_treatment = 12;
inline constexpr long grain = 1;  // villages

struct person {
  person* next = nullptr;
  int days_left = 0;
  int days_waited = 0;
  int hospitals = 0;
};

/// A linked list of people, in the order of their arrival.
class people {
 public:
  people() = default;
  people(const people&) = delete;
  people(people&& other) noexcept
      : first_(other.first_), last_(other.first_ ? other.last_ : &first_), size_(other.size_) {
    other.clear();
  }
  people& operator=(const people&) = delete;

  void clear() {
    first_ = nullptr;
    last_ = &first_;
    size_ = 0;
  }
  long size() const { return size_; }
  const person* first() const { return first_; }

  void add(person& one) {
    one.next = nullptr;
    *last_ = &one;
    last_ = &one.next;
    ++size_;
  }

  /// Calls where_to(one) for each in order. It returns the list that the person goes to, or nullptr.
  template <class WhereTo>
  void send(const WhereTo& where_to) {
    person** at = &first_;
    while (person* const one = *at) {
      people* const to = where_to(*one);
      if (to == nullptr) {
        at = &one->next;
        continue;
      }
      *at = one->next;
      --size_;
      if (last_ == &one->next) last_ = at;
      to->add(*one);
    }
  }

 private:
  person* first_ = nullptr;
  person** last_ = &first_;
  long size_ = 0;
};

struct village {
  int level;
  std::uint64_t random;  // the index of the next random number
  int free_doctors;
  people healthy, waiting, examined, treated, sent_up;
  std::vector<village> below;

  double uniform() { return uniform_at(random++); }
};

/// A person comes to the hospital.
inline people* arrives(village& v, person& one) {
  ++one.hospitals;
  if (v.free_doctors == 0) return &v.waiting;
  --v.free_doctors;
  one.days_left = days_of_examination;
  return &v.examined;
}

/// A day of a village after that of the villages below. In the opposite order of a patient's way, so that each person
/// takes one step.
inline void live(village& v) {
  v.treated.send([&](person& one) -> people* {
    if (--one.days_left > 0) return nullptr;
    ++v.free_doctors;
    return &v.healthy;
  });
  v.examined.send([&](person& one) -> people* {
    if (--one.days_left > 0) return nullptr;
    if (v.uniform() < needs_treatment) {
      if (v.level < levels && v.uniform() < is_sent_up) {
        ++v.free_doctors;
        return &v.sent_up;
      }
      one.days_left = days_of_treatment;
      return &v.treated;
    }
    ++v.free_doctors;
    return &v.healthy;
  });
  v.waiting.send([&](person& one) -> people* {
    if (v.free_doctors == 0) {
      ++one.days_waited;
      return nullptr;
    }
    --v.free_doctors;
    one.days_left = days_of_examination;
    return &v.examined;
  });
  v.healthy.send([&](person& one) -> people* { return v.uniform() < falls_ill ? arrives(v, one) : nullptr; });
  for (village& lower : v.below) {
    lower.sent_up.send([&](person& one) { return arrives(v, one); });
  }
}

inline long people_of(const village& v) {
  return v.healthy.size() + v.waiting.size() + v.examined.size() + v.treated.size();
}

/// A day of a village and all those below.
template <class Way>
void simulate_day(village& v) {
  if (!v.below.empty()) {
    Way::loop(0, std::ssize(v.below), grain, [&](long first, long last) {
      for (long i = first; i < last; ++i) simulate_day<Way>(v.below[static_cast<std::size_t>(i)]);
    });
  }
  if constexpr (counts_work<Way>) Way::work(unit::health_person, people_of(v));
  live(v);
}

}  // namespace bench::health
