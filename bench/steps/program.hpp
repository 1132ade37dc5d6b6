// What a program is made of whose steps are shown: functions that say when they are called and what they return, and
// forks that say what they fork. programs/fib.cpp is one.
#pragma once

#include <forkjoin/fork_join.hpp>
#include <forkjoin/scope.hpp>

#include <optional>
#include <string>
#include <utility>

namespace steps {

/// A call of a function, in that function. The rows show `name`.
class call {
 public:
  explicit call(std::string name);
  ~call();
  call(const call&) = delete;
  call& operator=(const call&) = delete;

  // Called last: the function returns that value, nothing, or after it has done what it says, as "print 3".

  long returns(long value) {
    ends("return " + std::to_string(value), "returns " + std::to_string(value) + " from " + name_);
    return value;
  }
  void returns() { ends("return", "returns from " + name_); }
  void returns_after(const std::string& what) { ends(what, "comes to " + what + " in " + name_); }

  const std::string& name() const noexcept { return name_; }
  /// As the rows show it.
  std::string shown() const;

 private:
  friend class forks;
  enum class where { begins, goes_on, joins, ends };

  void ends(const std::string& shown, const std::string& in_words);

  const std::string name_;
  std::string end_;
  where where_ = where::begins;
};

/// Forks of the function `in`, by the policy of the run: a scope of fj::continuations or fj::tasks.
class forks {
 public:
  explicit forks(call& in);
  forks(const forks&) = delete;
  forks& operator=(const forks&) = delete;

  /// `child`: what f calls, as the rows name it while it is in a deque.
  template <class F>
  void fork(std::string child, F f) {
    const place before = begins(std::move(child));
    if (tasks_) {
      tasks_->fork(f);
    } else {
      continuations_->fork([this, f] {
        continuation_pushed();
        f();
      });
    }
    returned(before);
  }

  void join();

 private:
  struct place {
    const void* thread;
    const void* newest;  // record
  };
  place begins(std::string child);
  void continuation_pushed();
  void returned(const place& before);

  call& in_;
  std::string record_;  // the name of what is pushed
  std::optional<fj::scope> continuations_;
  std::optional<fj::basic_scope<fj::tasks>> tasks_;
};

/// The program: its name is the file's. `size`: the number after that name on the command line; 0: there is none.
void program(long size);

}  // namespace steps
