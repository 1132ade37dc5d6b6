#include "runtime/races/report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/os/function_names.hpp"
#include "runtime/os/memory/interposed.hpp"
#include "runtime/os/symbols.hpp"
#include "runtime/os/variable.hpp"
#include "runtime/races/contexts.hpp"
#include "runtime/races/counters.hpp"
#include "runtime/races/strands.hpp"
#include "runtime/races/variables.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace races {

namespace {

/// A branch that an access is in.
struct branch_of_block {
  std::uint32_t record;
  std::uint32_t ordinal;
  kind is;
};

struct access {
  std::vector<address> stack;             // the access, and the calls that lead to it, through all forks
  std::vector<branch_of_block> branches;  // from the outermost on
  bool writes;
  bool locked, atomic;
  bool frees_it;
};

struct race {
  access first, second;
  address at;
  variable_key variable;
  bool by_calls;                   // its places and its variable are told of: these calls lead to another part of that
  std::vector<address> allocated;  // the calls that lead to where a block of the heap was allocated
  std::string variable_in;         // where on the stack it lies
  std::vector<address> fork;       // the calls that lead to the fork that separates them
  kind is;
  std::uint32_t first_branch, second_branch;
  bool first_is_branch, second_is_branch;
};

/// So many races are told, and of so many addresses of a variable it is known that they race.
constexpr std::size_t most_races = 1000, most_addresses = 1000;

struct racing_variable {
  std::unordered_set<address> addresses;
};

/// A race is new if its pair of places is, or its variable. Many variables may have one name, or none, and one
/// accessor: so it is new, too, if neither this address nor these calls of the accessor were in a race before.
struct found_races {
  std::vector<race> races;
  std::size_t more = 0;  // that are new
  std::set<std::pair<address, address>> places;
  std::set<std::pair<site_id, site_id>> sites;
  std::map<variable_key, racing_variable> variables;
  std::vector<address>
      crossed_joins;  // the calls that lead to where a scope was joined before an inner one of its strand
};

found_races& found() {
  static found_races* all = nullptr;
  if (!all) all = new found_races;
  return *all;
}

void add_branches(access& to, origin from) {
  for (std::uint32_t r = from.record, ordinal = from.ordinal; r != 0;) {
    const block_record& block = record(r);
    to.stack.push_back(block.pc);
    add_calls(block.context, to.stack);
    to.branches.push_back({r, ordinal, block.is});
    ordinal = block.ordinal;
    r = block.parent;
  }
  std::ranges::reverse(to.branches);
}

access described(site where, origin from, bool writes, lock_set under) {
  access one{{where.pc & ~frees}, {}, writes, has_locks(under), is_atomic(under), (where.pc & frees) != 0};
  add_calls(where.context, one.stack);
  add_branches(one, from);
  return one;
}

// --- text ---

/// Code of this library, not of the user's: by its file, or by its name if no file is known.
bool is_library(const os::place& one) {
  if (one.file.empty()) return one.function.find("fj::v0_4::") < one.function.find_first_of("<(");
  return os::is_of_library(one.file);
}

/// Of the standard library.
bool is_standard(const os::place& one) {
  return one.file.find("/include/c++/") != std::string::npos || one.file.find("/c++/v1/") != std::string::npos;
}

/// Characters that a facet of the standard library keeps, as std::regex does: two strands write the same there.
bool is_cache_of_library(const os::place& one) {
  return is_standard(one) && one.file.ends_with("/bits/locale_facets.h");
}

/// Calls of a closure, which say nothing.
bool is_call(const os::place& one) {
  return is_standard(one) && (one.function.find("invoke") != std::string::npos || one.file.ends_with("/functional"));
}

/// The frames that a reader looks for: the user's, and what of the standard library the innermost of them calls.
std::vector<os::place> shown(const std::vector<std::vector<os::place>>& stack) {
  std::vector<os::place> all;
  bool has_users = false;
  for (const auto& here : stack) {
    for (const os::place& one : here) {
      if (is_library(one) || is_call(one) || one.function.starts_with("__libc_start")) continue;
      if (is_standard(one) && has_users) continue;
      has_users |= !is_standard(one);
      all.push_back(one);
    }
  }
  if (!has_users && !stack.empty()) all = stack.front();
  return all;
}

/// The user's closure that a function of the library runs, by its template arguments: compilers tell of code that they
/// inlined there by the library's name and the user's line.
std::string user_name(const std::string& function) {
  if (function.find("fj::v0_4::") >= function.find('<')) return function;
  for (std::size_t at = 0; (at = function.find("{lambda(", at)) != std::string::npos; ++at) {
    std::size_t begin = at;
    for (int depth = 0; begin != 0; --begin) {
      const char c = function[begin - 1];
      depth += c == ')' || c == '>' || c == '}';
      depth -= c == '(' || c == '<' || c == '{';
      if (depth < 0 || (depth == 0 && (c == ',' || c == ' '))) break;
    }
    const std::size_t end = function.find('}', at);
    if (function.compare(begin, 4, "fj::") != 0 && end != std::string::npos)
      return function.substr(begin, end + 1 - begin);
  }
  return function;
}

/// Files below the folder in which the program runs are named from there.
std::string line_of(const os::place& one) {
  if (one.file.empty()) return one.function;
  static const std::string here = os::current_folder() + "/";
  return (one.file.starts_with(here) ? one.file.substr(here.size()) : one.file) + ":" + std::to_string(one.line);
}

std::string text_of(const os::place& one) {
  const std::string name = os::name_of(user_name(one.function));
  return one.file.empty() ? name : name + (one.is_near ? " near " : " at ") + line_of(one);
}

/// A line for each frame, but for what a recursion repeats.
std::string text_of(const std::vector<os::place>& stack) {
  std::vector<std::string> lines;
  for (const os::place& one : stack) lines.push_back(text_of(one));
  const auto are_same = [&](std::size_t a, std::size_t b, std::size_t n) {
    return b + n <= lines.size() && std::equal(lines.begin() + static_cast<std::ptrdiff_t>(a),
                                               lines.begin() + static_cast<std::ptrdiff_t>(a + n),
                                               lines.begin() + static_cast<std::ptrdiff_t>(b));
  };
  std::string text;
  for (std::size_t i = 0; i != lines.size();) {
    std::size_t period = 1, times = 1;
    for (constexpr std::size_t longest = 6; period <= longest; ++period) {
      for (times = 1; are_same(i, i + times * period, period);) ++times;
      if (times > 2) break;
    }
    if (times <= 2) period = times = 1;
    for (std::size_t k = 0; k != period; ++k) text += "    #" + std::to_string(i + k) + " " + lines[i + k] + "\n";
    if (times > 1) text += "    ... and the same " + std::to_string(times - 1) + " times more\n";
    i += period * times;
  }
  return text;
}

const char* name_of(kind is) {
  switch (is) {
    case kind::fork_join:
      return "fork_join";
    case kind::loop:
      return "loop";
    case kind::fold:
      return "fork_reduce";
    case kind::scope:
      return "scope";
    case kind::group:
      return "task_group";
  }
  return "";
}

std::string name_of_branch(kind is, std::uint32_t ordinal) {
  switch (is) {
    case kind::fork_join:
      return "branch " + std::to_string(ordinal + 1);
    case kind::scope:
      return "fork " + std::to_string(ordinal + 1);
    case kind::group:
      return "task " + std::to_string(ordinal + 1);
    default:
      return "iteration " + std::to_string(ordinal);
  }
}

std::string why(const race& of, const std::string& fork) {
  const std::string block = std::string("of the ") + name_of(of.is) + (fork.empty() ? "" : " in " + fork);
  if (of.first_is_branch && of.second_is_branch)
    return name_of_branch(of.is, of.first_branch) + " and " + name_of_branch(of.is, of.second_branch) + " " + block +
           " may run at the same time";
  return name_of_branch(of.is, of.first_is_branch ? of.first_branch : of.second_branch) + " " + block +
         (of.is == kind::fold ? " may run at the same time as what is done with the results of earlier iterations"
                              : " may run at the same time as what follows that fork, up to the join");
}

// --- suppressions ---

/// As ThreadSanitizer's: a part of the name, in which * stands for anything.
bool matches(const std::string& pattern, const std::string& name) {
  std::size_t at = 0;
  for (std::size_t begin = 0; begin <= pattern.size();) {
    const std::size_t star = std::min(pattern.find('*', begin), pattern.size());
    const std::size_t where = name.find(pattern.substr(begin, star - begin), at);
    if (where == std::string::npos) return false;
    at = where + (star - begin);
    begin = star + 1;
  }
  return true;
}

std::vector<std::string> suppressions() {
  std::vector<std::string> all;
  const char* const path = os::variable("FORKJOIN_RACES_SUPPRESSIONS");
  if (!path) return all;
  std::FILE* const file = std::fopen(path, "re");
  if (!file) {
    std::fprintf(stderr, "forkjoin-races: FORKJOIN_RACES_SUPPRESSIONS: cannot read %s\n", path);
    return all;
  }
  char line[4096];
  while (std::fgets(line, sizeof line, file)) {
    std::string text(line, std::strcspn(line, "\r\n"));
    if (text.empty() || text[0] == '#') continue;
    if (text.compare(0, 5, "race:") == 0) {
      all.push_back(text.substr(5));
    } else {
      std::fprintf(stderr, "forkjoin-races: %s: not race:PATTERN: %s\n", path, text.c_str());
    }
  }
  std::fclose(file);
  return all;
}

bool is_suppressed(const std::vector<std::string>& patterns, const std::vector<os::place>& stack) {
  return std::ranges::any_of(stack, [&](const os::place& one) {
    return std::ranges::any_of(patterns, [&](const std::string& pattern) {
      return matches(pattern, one.function) || matches(pattern, os::name_of(user_name(one.function))) ||
             matches(pattern, one.file);
    });
  });
}

std::string variable(const race& of) {
  if (std::string name = name_of_variable(of.at); !name.empty()) return "the variable " + name;
  if (!of.variable_in.empty()) return of.variable_in;
  if (of.at >= now.stack_bottom) return "a variable on the stack";
  if (of.first.frees_it || of.second.frees_it) return "memory of the heap that is freed";
  return of.variable.of == variable_key::memory::heap ? "memory of the heap" : "memory without a name";
}

/// A race as it is told, and all addresses of its variable that race, if no other report of the variable has them.
struct report {
  const race* of;
  std::string head, end;
  std::set<address> addresses;
  bool has_most = false;
};

/// What else of the variable races: the names of a few addresses, and how many there are.
std::string others(const report& that) {
  std::vector<address> all(that.addresses.begin(), that.addresses.end());
  std::erase(all, that.of->at);
  if (all.empty()) return {};
  const std::string least = that.has_most ? "at least " : "";
  if (that.of->variable.of != variable_key::memory::named)
    return "  The same at " + least + std::to_string(all.size()) + " more address" + (all.size() == 1 ? "" : "es") +
           ".\n";
  constexpr std::size_t most_names = 8;
  const std::size_t named = std::min(all.size(), most_names);
  std::string text = "  The same on ";
  for (std::size_t i = 0; i != named; ++i)
    text += (i == 0 ? "" : i + 1 == all.size() ? " and " : ", ") + name_of_variable(all[i]);
  if (named != all.size()) text += " and " + least + std::to_string(all.size() - named) + " more";
  return text + ".\n";
}

}  // namespace

void note_race(address at, const earlier_access& first, address pc, bool writes) noexcept {
  const aside work;
  found_races& all = found();
  const site earlier = site_of(first.at);
  const variable_key variable = variable_of(at);
  const auto known = all.variables.find(variable);
  const bool is_known_variable = known != all.variables.end();
  const bool is_known_address =
      is_known_variable && (known->second.addresses.contains(at) || known->second.addresses.size() == most_addresses);
  if (is_known_address && all.places.contains({earlier.pc, pc})) return;
  if (os::interposed::is_of_thread_local(at)) return;
  if (now.last_owner_below != 0 && is_before_last_owner(first.strand)) return;
  const bool by_place = all.places.insert({earlier.pc, pc}).second;
  const bool by_calls = all.sites.insert({first.at, site_here(pc)}).second && !is_known_address;
  all.variables[variable].addresses.insert(at);
  if (is_known_variable && !by_place && !by_calls) return;
  if (all.races.size() == most_races) {
    ++all.more;
  } else {
    race one{described(earlier, origin_of(first.strand), first.writes, first.under),
             described({pc, now.branch.context}, origin_of_this(), writes, now.held),
             at,
             variable,
             is_known_variable && !by_place,
             {},
             {},
             {},
             kind::fork_join,
             0,
             0,
             false,
             false};
    // Where the ways from the outermost branch part.
    const auto &a = one.first.branches, &b = one.second.branches;
    std::size_t same = 0;
    while (same != a.size() && same != b.size() && a[same].record == b[same].record &&
           a[same].ordinal == b[same].ordinal)
      ++same;
    one.first_is_branch = same != a.size();
    one.second_is_branch = same != b.size() && (!one.first_is_branch || a[same].record == b[same].record);
    if (one.first_is_branch) one.first_branch = a[same].ordinal;
    if (one.second_is_branch) one.second_branch = b[same].ordinal;
    if (one.first_is_branch || one.second_is_branch) {
      const branch_of_block& parted = one.first_is_branch ? a[same] : b[same];
      one.is = parted.is;
      for (std::uint32_t r = parted.record; r != 0; r = record(r).parent) {
        one.fork.push_back(record(r).pc);
        add_calls(record(r).context, one.fork);
      }
    }
    if (variable.of == variable_key::memory::heap) {
      const site allocation = site_of(static_cast<site_id>(variable.number));
      one.allocated.push_back(allocation.pc);
      add_calls(allocation.context, one.allocated);
    }
    if (variable.of == variable_key::memory::stack && variable.number != 0) {
      const auto frames = shown(os::places_of({variable.number - 1}));
      if (!frames.empty()) one.variable_in = "a variable of " + os::name_of(user_name(frames.front().function));
    }
    all.races.push_back(std::move(one));
  }
}

void note_crossed_joins(address pc) noexcept {
  const aside work;
  found().crossed_joins = described({pc, now.branch.context}, origin_of_this(), false, 0).stack;
}

void tell_unseen(bool all) noexcept {
  if (all) {
    std::fputs(
        "forkjoin-races: the program has forks, but no access was seen: compile all of it with the flags of "
        "pkg-config --cflags forkjoin-races, and without -flto\n",
        stderr);
    return;
  }
  for (const std::string& path : os::libraries_without("__tsan_"))
    std::fprintf(stderr, "forkjoin-races: %s was not compiled with -fsanitize=thread: races in it are not found\n",
                 path.c_str());
}

std::size_t tell_races() noexcept {
  found_races& all = found();
  const std::vector<std::string> patterns = suppressions();
  std::vector<address> addresses;
  const auto add = [&](const std::vector<address>& stack) {
    for (const address pc : stack) addresses.push_back(pc - 1);  // a return address: the call is before it
  };
  for (const race& one : all.races) {
    add(one.first.stack);
    add(one.second.stack);
    add(one.fork);
    add(one.allocated);
  }
  const auto places = os::places_of(addresses);
  std::size_t at = 0, suppressed = 0;
  std::vector<report> reports;
  std::map<std::string, std::size_t> variables;  // by what tells them apart in a report: the first report
  std::set<std::string> texts;  // of one statement a compiler makes several accesses, and perhaps several copies
  const auto take = [&](std::size_t n) {
    std::vector<std::vector<os::place>> stack(places.begin() + static_cast<std::ptrdiff_t>(at),
                                              places.begin() + static_cast<std::ptrdiff_t>(at + n));
    at += n;
    return shown(stack);
  };
  for (const race& one : all.races) {
    const bool is_meant =
        is_cache_of_library(places[at].front()) && is_cache_of_library(places[at + one.first.stack.size()].front());
    const auto first = take(one.first.stack.size()), second = take(one.second.stack.size()),
               fork = take(one.fork.size());
    auto allocated = take(one.allocated.size());
    if (!std::ranges::all_of(allocated, is_standard)) std::erase_if(allocated, is_standard);
    if (is_meant) continue;
    const std::string name = variable(one);
    const auto lines = [](const std::vector<os::place>& stack, std::size_t n) {
      std::string those;
      for (std::size_t i = 0; i != std::min(n, stack.size()); ++i) those += line_of(stack[i]) + "\n";
      return those;
    };
    std::set<std::string> allocated_by;  // a recursion has few places, in any order
    for (const os::place& one_call : allocated) allocated_by.insert(line_of(one_call));
    std::string what = name.substr(0, name.find('+')) + "\n";
    for (const std::string& line : allocated_by) what += line + "\n";
    const auto is_new = [&](std::size_t n) {
      const std::string a = lines(first, n), b = lines(second, n);
      return texts.insert(std::min(a, b) + "\n" + std::max(a, b) + "\n" + what).second;
    };
    const bool is_new_pair = is_new(1), is_new_call = is_new(2);
    const bool is_new_text = is_new_pair || (one.by_calls && is_new_call);
    if (is_suppressed(patterns, first) || is_suppressed(patterns, second)) {
      suppressed += is_new_text;
      continue;
    }
    const auto variable_told = variables.try_emplace(what, reports.size()).first;
    if (is_new_text) {
      report& of = reports.emplace_back(report{&one, "==== forkjoin-races: a race on " + name + "\n", {}, {}});
      const auto tell = [&](const char* which, const access& that, const std::vector<os::place>& stack) {
        of.head += std::string("  ") + which +
                   (that.frees_it ? " frees"
                    : that.writes ? " writes"
                                  : " reads") +
                   (that.atomic ? ", atomically" : "") + (that.locked ? ", under a lock" : "") + ":\n";
        of.head += text_of(stack);
      };
      const bool both = one.first_is_branch && one.second_is_branch;
      tell(one.first_is_branch ? name_of_branch(one.is, one.first_branch).c_str() : "the strand that forks", one.first,
           first);
      tell(both || one.second_is_branch ? name_of_branch(one.is, one.second_branch).c_str() : "the strand that forks",
           one.second, second);
      if (!allocated.empty()) of.head += "  The memory was allocated:\n" + text_of(allocated);
      of.end = "  Nothing orders them: " + why(one, fork.empty() ? std::string() : text_of(fork.front())) +
               (one.first.locked && one.second.locked ? "; they hold no lock in common" : "") + ".\n";
    }
    report& first_of_variable = reports[variable_told->second];
    const auto& raced = all.variables[one.variable].addresses;
    first_of_variable.addresses.insert(raced.begin(), raced.end());
    first_of_variable.has_most |= raced.size() == most_addresses;
  }
  for (const report& one : reports) std::fputs((one.head + others(one) + one.end).c_str(), stderr);
  const std::size_t told = reports.size();
  if (told != 0 || suppressed != 0) {
    std::fprintf(stderr, "==== forkjoin-races: %zu race%s", told, told == 1 ? "" : "s");
    if (all.more != 0) std::fprintf(stderr, " and %zu more", all.more);
    if (suppressed != 0) std::fprintf(stderr, ", and %zu suppressed", suppressed);
    std::fputs("\n", stderr);
  }
  if (!all.crossed_joins.empty()) {
    for (address& pc : all.crossed_joins) --pc;
    const auto where = shown(os::places_of(all.crossed_joins));
    std::fprintf(
        stderr,
        "forkjoin-races: %s joins a scope before a later one of the same strand: races with what children of the "
        "later one had read may be missed; run it with FORKJOIN_RACES_JOINS=any to find them\n",
        where.empty() ? "the program" : text_of(where.front()).c_str());
  }
  if (forgotten_accesses != 0)
    std::fprintf(stderr,
                 "forkjoin-races: %zu accesses under locks were dropped, because %zu others of the same memory were "
                 "kept: races with them are not found\n",
                 forgotten_accesses, longest_list);
  return told + all.more;  // which of these are suppressed is not known
}

}}}}  // namespace fj::v0_4::detail::races
