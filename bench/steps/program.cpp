#include "bench/steps/program.hpp"

#include "bench/steps/stage.hpp"

namespace steps {

namespace {

// Here other threads may go on.
void give_turn_up() {
  if (auto* const all = fj::detail::os::turns::mine()) all->pass();
}

}  // namespace

call::call(std::string name) : name_(std::move(name)) {
  the_stage().call_begins(*this);
  give_turn_up();
}

call::~call() { the_stage().call_is_over(*this); }

std::string call::shown() const {
  switch (where_) {
    case where::begins:
      return name_;
    case where::goes_on:
      return "continuation of " + name_;
    case where::joins:
      return name_ + " (join point)";
    case where::ends:
      break;
  }
  return end_;
}

void call::ends(const std::string& shown, const std::string& in_words) {
  end_ = shown;
  where_ = where::ends;
  the_stage().call_ends(in_words);
  give_turn_up();
}

forks::forks(call& in) : in_(in) {
  if (the_stage().tasks()) {
    tasks_.emplace();
  } else {
    continuations_.emplace();
  }
}

forks::place forks::begins(std::string child) {
  record_ = tasks_ ? std::move(child) : "continuation of " + in_.name();
  return {fj::detail::os::turns::self(), the_stage().newest_record()};
}

void forks::continuation_pushed() { the_stage().name_record(the_stage().newest_record(), record_); }

void forks::returned(const place& before) {
  if (tasks_) {
    // Unless it could not be kept, and has run.
    if (const void* const newest = the_stage().newest_record(); newest != before.newest) continuation_pushed();
    return;
  }
  in_.where_ = call::where::goes_on;
  if (fj::detail::os::turns::self() != before.thread) give_turn_up();  // stolen
}

void forks::join() {
  if (tasks_) give_turn_up();
  in_.where_ = call::where::joins;
  the_stage().call_joins(in_);
  tasks_ ? tasks_->join() : continuations_->join();
  the_stage().call_has_joined(in_);
  in_.where_ = call::where::goes_on;
}

}  // namespace steps
