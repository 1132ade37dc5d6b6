// Every order of siblings with every kind of join. `again` is continuations once more: what noise does.
#include <forkjoin/run.hpp>
#include <forkjoin/scope.hpp>

#include "bench/locality/locality.hpp"

namespace {

class team {
 public:
  explicit team(int procs) : runtime_({.procs = static_cast<unsigned>(procs)}) {}

  double answer(std::string kind, std::size_t bytes) {
    const bool counts = kind.starts_with("thefts/");
    if (counts) kind.erase(0, kind.find('/') + 1);
    const std::size_t slash = kind.find('/');
    if (slash == kind.npos) return -1;
    const std::string way = kind.substr(slash + 1);
    kind.erase(slash);
    const std::uint64_t before = runtime_.stats().total().steals;
    calls_ = 0;
    const double ns = by_way(way, kind, bytes);
    if (ns < 0 || !counts) return ns;
    return static_cast<double>(runtime_.stats().total().steals - before) / static_cast<double>(calls_);
  }

 private:
  template <class Policy>
  double by(const std::string& kind, std::size_t bytes) {
    return locality::ns_of<fj::basic_scope<Policy>>(kind, bytes, calls_, [&](const auto& f) { runtime_.run(f); });
  }

  double by_way(const std::string& way, const std::string& kind, std::size_t bytes) {
    if (way == "continuations" || way == "again") return by<fj::continuations>(kind, bytes);
    if (way == "tasks") return by<fj::tasks>(kind, bytes);
    if (way == "first_top") return by<fj::policy<fj::first_child_first, fj::run_on_top>>(kind, bytes);
    if (way == "first_leap") return by<fj::policy<fj::first_child_first, fj::leapfrog>>(kind, bytes);
    if (way == "last_leave") return by<fj::policy<fj::last_child_first, fj::leave_stack>>(kind, bytes);
    if (way == "last_leap") return by<fj::policy<fj::last_child_first, fj::leapfrog>>(kind, bytes);
    return -1;
  }

  fj::runtime runtime_;
  std::uint64_t calls_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::answer_all<team>(
      argc, argv, [](team& of, const std::string& kind, std::size_t bytes) { return of.answer(kind, bytes); });
}
