// What the profile has found, as a table or as JSON: work, span and parallelism, and what each line of the program that
// forks has of them.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/os/function_names.hpp"
#include "runtime/os/symbols.hpp"
#include "runtime/os/variable.hpp"
#include "runtime/profile/dag.hpp"
#include "runtime/profile/earlier_runs.hpp"
#include "runtime/profile/sites.hpp"
#include "runtime/profile/start.hpp"

namespace fj { inline namespace v0_4 { namespace detail { namespace profile {

namespace {

/// A line of the program that forks, or what no branch is around: before the first fork, or at one. Times in ticks.
enum class strands_are { of_forks, before_forks, after_join, beside_children };

struct line_of_program {
  os::place at;
  strands_are are = strands_are::of_forks;
  block_kind is = block_kind::fork_join;
  std::uint64_t blocks = 0, branches = 0, forks = 0, outermost = 0;
  double own = 0, before = 0, after = 0, on_span = 0, saved_twice = 0, saved_free = 0;
  double work_in = 0, span_in = 0, burdened_in = 0;
  std::uint64_t lone_loops = 0;
  double lone_numbers = 0, lone = 0;
};

/// Code of this library, of the standard's, or what the user says is looked through: by its file, or by its name if no
/// file is known.
bool is_library(const os::place& one) {
  const char* const through = os::variable("FORKJOIN_PROFILE_THROUGH");
  if (through && one.file.find(through) != std::string::npos) return true;
  if (one.file.empty())
    return one.function.find("fj::v0_4::") < one.function.find_first_of("<(") || one.function.starts_with("std::");
  if (one.file.find("/include/c++/") != std::string::npos || one.file.find("/c++/v1/") != std::string::npos)
    return true;
  return os::is_of_library(one.file);
}

/// The innermost call that is the program's own. If it is inlined, and the tool knows no more than a line of the
/// library, it has the name of the function that it is in.
os::place own_place(const std::vector<std::vector<os::place>>& calls) {
  for (const std::vector<os::place>& here : calls)
    for (const os::place& one : here)
      if (!is_library(one) && one.function.find("_start") == std::string::npos) return one;
  for (const std::vector<os::place>& here : calls)
    if (!here.empty() && !is_library({here.back().function, "", 0})) return {here.back().function, "", 0};
  return {"?", "", 0};
}

std::uint64_t forks_of(const site& one) noexcept {
  return one.is == block_kind::scope ? one.branches : one.branches - std::min(one.branches, one.blocks);
}

std::vector<line_of_program> lines(std::vector<known_site>& for_later) {
  std::vector<line_of_program> all(1);
  all[0].at = {"", "", 0};
  all[0].are = strands_are::before_forks;
  all[0].own = outside_of_forks.own;
  std::vector<std::uintptr_t> addresses;
  for (const site* const one : all_sites())
    for (const std::uintptr_t call : one->calls) addresses.push_back(call - 1);  // the call is before it
  const auto places = os::places_of(addresses);
  auto at = places.begin();
  std::map<std::pair<std::string, unsigned>, std::pair<std::size_t, lasting_key>> known;
  std::map<std::pair<std::size_t, strands_are>, std::size_t> places_outside;
  std::map<const site*, std::size_t> of_site{{&outside_of_forks, 0}};
  for (const site* const one : all_sites()) {
    const auto end = at + static_cast<std::ptrdiff_t>(one->calls.size());
    const os::place place = own_place({at, end});
    at = end;
    const auto key = place.file.empty() ? std::pair(place.function, 0u) : std::pair(place.file, place.line);
    const auto [found, is_new] = known.try_emplace(key, all.size(), one->key);
    if (is_new) {
      all.push_back({});
      all.back().at = place;
      all.back().is = one->is;
    }
    for_later.push_back({one->key, one->part, found->second.second});
    of_site[one] = found->second.first;
    for (const auto& [outside, are] : {std::pair(one->after_join, strands_are::after_join),
                                       std::pair(one->beside_children, strands_are::beside_children)}) {
      if (!outside) continue;
      const auto [there, first] = places_outside.try_emplace({found->second.first, are}, all.size());
      if (first) {
        all.push_back({});
        all.back().at = place;
        all.back().are = are;
      }
      of_site[outside] = there->second;
      all[there->second].own += outside->own;
    }
    line_of_program& line = all[found->second.first];
    line.blocks += one->blocks;
    line.branches += one->branches;
    line.forks += forks_of(*one);
    line.own += one->own;
    line.before += one->before;
    line.after += one->after;
    line.outermost += one->outermost;
    line.work_in += one->work_in;
    line.span_in += one->span_in;
    line.burdened_in += one->burdened_in;
    line.lone_loops += one->lone_loops;
    line.lone_numbers += one->lone_numbers;
    line.lone += one->lone_ticks;
  }
  for (const share& one : listed(of_all_runs)) {
    line_of_program& line = all[of_site[one.of]];
    line.on_span += one.span;
    line.saved_twice += one.saved_twice;
    line.saved_free += one.saved_free;
  }
  return all;
}

const char* name_of(block_kind is) noexcept {
  switch (is) {
    case block_kind::fork_join:
      return "fork_join";
    case block_kind::loop:
      return "loop";
    case block_kind::fold:
      return "fork_reduce";
    case block_kind::scope:
      return "scope";
  }
  return "";
}

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    if (static_cast<unsigned char>(c) >= 32) all += c;
  }
  return all + "\"";
}

double ns(double ticks) noexcept { return ticks / ticks_per_ns; }

/// `"name": value`, for JSON.
std::string field(const char* name, double value) {
  char text[32];
  // Not printf, whose point is a comma if the program has chosen such a locale.
  const char* const end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 15).ptr;
  return quoted(name).append(": ").append(static_cast<const char*>(text), end);
}

std::string field(const char* name, std::uint64_t value) { return field(name, static_cast<double>(value)); }
std::string field(const char* name, const std::string& value) {
  return quoted(name).append(": ").append(quoted(value));
}

std::string joined(char begin, const std::vector<std::string>& parts, char end) {
  std::string all(1, begin);
  for (const std::string& part : parts) all.append(all.size() == 1 ? "" : ", ").append(part);
  return all + end;
}

const char* kind_of(const line_of_program& one) noexcept {
  switch (one.are) {
    case strands_are::of_forks:
      return name_of(one.is);
    case strands_are::before_forks:
      return "begin";
    case strands_are::after_join:
      return "after";
    case strands_are::beside_children:
      return "beside";
  }
  return "";
}

std::string json_of(const line_of_program& one) {
  return joined('{',
                {field("function", os::name_of(one.at.function)),
                 field("file", one.at.file),
                 field("line", std::uint64_t{one.at.line}),
                 field("kind", std::string(kind_of(one))),
                 field("blocks", one.blocks),
                 field("branches", one.branches),
                 field("forks", one.forks),
                 field("own_ns", ns(one.own)),
                 field("own_before_forks_ns", ns(one.before)),
                 field("own_after_joins_ns", ns(one.after)),
                 field("on_span_ns", ns(one.on_span)),
                 field("saved_twice_ns", ns(one.saved_twice)),
                 field("saved_free_ns", ns(one.saved_free)),
                 field("outermost", one.outermost),
                 field("work_in_ns", ns(one.work_in)),
                 field("span_in_ns", ns(one.span_in)),
                 field("burdened_in_ns", ns(one.burdened_in)),
                 field("lone_loops", one.lone_loops),
                 field("lone_numbers", one.lone_numbers),
                 field("lone_ns", ns(one.lone))},
                '}');
}

std::string json_of(const std::vector<line_of_program>& all) {
  std::vector<std::string> sites;
  for (const line_of_program& one : all) sites.push_back(std::string("\n  ").append(json_of(one)));
  return joined('{',
                {field("forkjoin-profile", std::uint64_t{1}), field("run", std::uint64_t{number_of_run()}),
                 std::string("\"repeats\": ").append(repeats_earlier_runs() ? "true" : "false"),
                 field("theft_ns", ns(theft_ticks)), field("work_ns", ns(of_all_runs.work())),
                 field("span_ns", ns(of_all_runs.span())), field("burdened_ns", ns(of_all_runs.burdened())),
                 field("event_ns", ns(cost.event)), field("reading_ns", ns(cost.shared)),
                 std::string("\"sites\": ").append(joined('[', sites, ']'))},
                '}') +
         '\n';
}

std::string duration(double ticks) {
  const double time = ns(ticks);
  char text[32];
  const char* const unit = time < 1e3 ? "ns" : time < 1e6 ? "us" : time < 1e9 ? "ms" : "s";
  std::snprintf(text, sizeof text, "%.3g %s",
                time / (time < 1e3   ? 1
                        : time < 1e6 ? 1e3
                        : time < 1e9 ? 1e6
                                     : 1e9),
                unit);
  return text;
}

/// Those with most of the span: the others limit nothing.
constexpr std::ptrdiff_t most_lines = 10;

void write_table(std::FILE* to, std::vector<line_of_program> all) {
  const path& whole = of_all_runs;
  std::fprintf(to, "forkjoin-profile: work %s, span %s, burdened span %s, parallelism %.3g\n",
               duration(whole.work()).c_str(), duration(whole.span()).c_str(), duration(whole.burdened()).c_str(),
               whole.span() > 0 ? whole.work() / whole.span() : 1);
  std::ranges::sort(all, [](const line_of_program& a, const line_of_program& b) { return a.on_span > b.on_span; });
  for (const line_of_program& one : all) {
    if (&one - all.data() == most_lines) {
      std::fprintf(to, "forkjoin-profile: and %zu more\n", all.size() - most_lines);
      break;
    }
    std::string at = os::name_of(one.at.function);
    if (!one.at.file.empty()) at += " at " + one.at.file + ":" + std::to_string(one.at.line);
    if (at.empty()) at = "before the first fork";
    if (one.are == strands_are::after_join || one.are == strands_are::beside_children)
      at.insert(0, std::string(kind_of(one)) + " ");
    if (one.lone_loops > 0) at += ", " + std::to_string(one.lone_loops) + " loops too short to share";
    std::fprintf(to, "forkjoin-profile: %5.1f %% of the span, %5.1f %% of the work, %llu forks: %s\n",
                 whole.span() > 0 ? 100 * one.on_span / whole.span() : 0,
                 whole.work() > 0 ? 100 * one.own / whole.work() : 0, static_cast<unsigned long long>(one.forks),
                 at.c_str());
  }
}

}  // namespace

void report_at_exit() noexcept {
  if (is_in_run)
    std::fputs("forkjoin-profile: the program ends inside of fj::run: its work and span lack that call\n", stderr);
  dag::write(!is_in_run);
  add_up_strands();
  knowledge for_later;
  const std::vector<line_of_program> all = lines(for_later.sites);
  know_strands(for_later);
  save_run(for_later);
  const char* const path = os::variable("FORKJOIN_PROFILE_OUT");
  if (!path) return write_table(stderr, all);
  std::FILE* const file = std::fopen(path, "we");
  if (!file) {
    std::fprintf(stderr, "forkjoin-profile: FORKJOIN_PROFILE_OUT: cannot write %s\n", path);
    return;
  }
  const bool failed = std::fputs(json_of(all).c_str(), file) < 0;
  if (std::fclose(file) != 0 || failed)
    std::fprintf(stderr, "forkjoin-profile: FORKJOIN_PROFILE_OUT: cannot write %s\n", path);
}

}}}}  // namespace fj::v0_4::detail::profile
