#include "runtime/report.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>

namespace fj { inline namespace v0_4 { namespace detail {

namespace {

// A theft holds both sides up for a microsecond or two. If there is less work than this between two steals, stealing
// hardly pays.
constexpr std::uint64_t little_work_ns = 20'000;

// The part of the P's time that may be lost without a hint. Not half: on two P that is no speed-up at all.
constexpr double little_lost = 0.15;

unsigned per_cent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0
                    : static_cast<unsigned>(
                          std::min<double>(100, 100.0 * static_cast<double>(part) / static_cast<double>(whole) + 0.5));
}

std::string duration(std::uint64_t ns) {
  const struct {
    std::uint64_t above;
    double unit;
    const char* name;
  } scales[] = {{1'000'000'000, 1e9, "s"}, {1'000'000, 1e6, "ms"}, {0, 1e3, "us"}};
  const auto* scale = scales;
  while (ns < scale->above) ++scale;
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g %s", static_cast<double>(ns) / scale->unit, scale->name);
  return text;
}

std::string number(std::uint64_t n, const char* of) { return std::to_string(n) + " " + of + (n == 1 ? "" : "s"); }

// Time of all P that did no work, in nanoseconds, by its cause.
struct lost_time {
  double serial, short_loops, thefts, cpus, waits;
  double queued;  // the part of the busy time in which no CPU ran the P

  double most() const noexcept { return std::max({serial, short_loops, thefts, cpus, waits}); }
  double sum() const noexcept { return serial + short_loops + thefts + cpus + waits; }
};

// While one P alone is busy, the others cannot be: that is the cause, whatever they do meanwhile; but while no CPU runs
// that one, what has the CPU is. While none is busy, all strands wait. What is lost while several are busy, thefts
// could have given back.
lost_time lost(const stats& read, const counters& all, const report_options& as) {
  const auto procs = static_cast<double>(read.procs.size()), whole = procs * static_cast<double>(read.working_ns);
  const auto alone = static_cast<double>(std::min(read.alone_ns, read.working_ns)),
             none = std::min(static_cast<double>(read.none_busy_ns), static_cast<double>(read.working_ns) - alone),
             waits = all.suspensions > 0 ? none : 0,  // else it is the way into the runtime
      busy = static_cast<double>(all.busy_ns), looking = static_cast<double>(all.looking_ns);
  // Threads wait for a CPU, too, that have just been woken and hold no P. What P were held for and threads did not run
  // is the most. Those that look for work lose nothing.
  const double held = busy + looking, without = std::max(held - static_cast<double>(as.ran_ns), 0.0);
  const double queued = busy == 0 ? 0 : std::min(static_cast<double>(as.queued_ns), without) * busy / held;
  const double ran_alone = busy == 0 ? 0 : alone * (1 - queued / busy),
               brief = std::min(static_cast<double>(read.short_loops_ns), ran_alone);
  return {.serial = (procs - 1) * (ran_alone - brief),
          .short_loops = (procs - 1) * brief,
          .thefts = std::max(whole - busy - (procs - 1) * alone - procs * waits, 0.0),
          .cpus = queued + (procs - 1) * (alone - ran_alone),
          .waits = procs * waits,
          .queued = queued};
}

std::string hint(const stats& read, const counters& all, const report_options& as) {
  const std::uint64_t procs = read.procs.size();
  if (read.threads_refused > 0)
    return "the system refused threads; raise its limit on them (ulimit -u, or the cgroup's pids.max), or set fewer Ps";
  if (all.busy_ns == 0) return "no job was run";
  if (as.steals_every_fork) return "every fork is stolen, as asked for: these times say nothing about an ordinary run";
  if (procs == 1) return "with one P nothing can be stolen; set more with FORKJOIN_PROCS or fj::options::procs";
  const lost_time by = lost(read, all, as);
  const auto share = [&](std::uint64_t part) {
    return "for " + std::to_string(per_cent(part, read.working_ns)) + " % of the time ";
  };
  const double most = by.most();
  const bool loses = by.sum() > little_lost * static_cast<double>(read.working_ns * procs);
  if (loses && most == by.cpus)
    return "for " + std::to_string(per_cent(static_cast<std::uint64_t>(by.queued), all.busy_ns)) +
           " % of the time in which Ps worked, no processor ran them: other programs had it, or there are more Ps than "
           "processors";
  if (loses && most == by.waits)
    return share(read.none_busy_ns) +
           "no P was busy: all strands waited, for timers, sockets, or threads outside; let more of them wait at once";
  if (loses && most == by.short_loops)
    return share(read.short_loops_ns) +
           "one P alone was busy with short loops: most loops are too short to be shared: merge them, or parallelize "
           "an outer loop";
  if (all.steals > 0 && all.busy_ns / all.steals < little_work_ns)
    return "there was a steal for each " + duration(all.busy_ns / all.steals) + " of work: larger leaves would help";
  if (!loses) return "none; the Ps had work for most of the time";
  if (read.procs_in_use < procs)
    return "not all Ps are in use, because of runtime::set_procs, the affinity mask or the quota: these times count "
           "the others as idle";
  if (all.steals == 0)
    return "nothing was stolen: the program forks too late or not at all (fibers of fj::go need no steal), its leaves "
           "are long, or its jobs are over before a thread is awake";
  if (most == by.serial)
    return share(read.alone_ns) +
           "one P alone was busy: that part is serial; which code it is: forkjoin-profile, or "
           "forkjoin-trace run PROGRAM";
  return "Ps found too little to steal while others worked: fork earlier, or into more parts of equal size";
}

}  // namespace

std::string report(const stats& read, const report_options& as) {
  const counters all = read.total();
  const std::uint64_t procs = read.procs.size();
  const std::uint64_t time = read.working_ns * procs;
  std::string text =
      "forkjoin: the runtime lived for " + duration(read.lived_ns) + " and had jobs for " + duration(read.working_ns) +
      ", on " + number(procs, "P") +
      (read.procs_in_use < procs ? ", " + std::to_string(read.procs_in_use) + " of them in use at last" : "") + "\n";
  if (read.schedule_choices != 0) {
    char hash[17];
    std::snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(read.schedule_hash));
    text += "forkjoin: threads took turns, as asked for: " + number(read.schedule_choices, "choice") + ", hash " +
            hash + "; these times are counted\n";
  }
  if (as.chaos != 0) text += "forkjoin: chaos, as asked for, by seed " + std::to_string(as.chaos) + "\n";
  text +=
      "forkjoin: stacks " + std::to_string(read.stacks_in_use) + " in use, " + std::to_string(read.stacks_peak) +
      " at peak\n"
      "   P busy% look%     steals suspensions resumptions join_waits  exposures publications most_public slow_pushes  "
      "slow_pops      parks    wakeups stacks_in_use stacks_peak\n";
  const auto line = [&](const char* name, const counters& c, std::uint64_t of) {
    char row[256];
    const auto n = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::snprintf(
        row, sizeof(row),
        "%4s %5u %5u %10llu %11llu %11llu %10llu %10llu %12llu %11llu %11llu %10llu %10llu %10llu %13llu %11llu\n",
        name, per_cent(c.busy_ns, of), per_cent(c.looking_ns, of), n(c.steals), n(c.suspensions), n(c.resumptions),
        n(c.join_waits), n(c.exposures), n(c.publications), n(c.most_public), n(c.slow_pushes), n(c.slow_pops),
        n(c.parks), n(c.wakeups), n(c.stacks_in_use), n(c.stacks_peak));
    text += row;
  };
  for (std::size_t i = 0; i < procs; ++i) line(std::to_string(i).c_str(), read.procs[i], read.working_ns);
  line("all", all, time);
  const unsigned busy = per_cent(all.busy_ns, time), looking = std::min(100 - busy, per_cent(all.looking_ns, time));
  text += "forkjoin: while it had jobs the Ps worked for " + std::to_string(busy) +
          " % of the time, looked for work for " + std::to_string(looking) + " %, and were idle for " +
          std::to_string(100 - busy - looking) + " %: " +
          (read.threads_refused > 0 ? "the system refused " + number(read.threads_refused, "thread") + ", and " : "") +
          (all.parks > 0     ? number(all.parks, "time") + " a worker slept, because it found no work"
           : all.wakeups > 0 ? "no worker had to sleep"
                             : "no fork asked for a worker") +
          "\n";
  text += "forkjoin: for " + std::to_string(per_cent(read.alone_ns, read.working_ns)) +
          " % of the time one P alone was busy" +
          (per_cent(read.short_loops_ns, read.working_ns) > 0
               ? ", up to " + std::to_string(per_cent(read.short_loops_ns, read.working_ns)) +
                     " % in loops too short to be shared"
               : "") +
          ", and for " + std::to_string(per_cent(read.none_busy_ns, read.working_ns)) + " % none\n";
  text += "forkjoin: " + number(all.steals, "steal") +
          (all.steals > 0 ? ", one for each " + duration(all.busy_ns / all.steals) + " of work" : "") + "\n";
  // Of the joins of some scopes it is not known how late they were.
  const std::uint64_t known = std::accumulate(all.joins_late.begin(), all.joins_late.end(), std::uint64_t{0});
  if (all.join_waits > 0)
    text += "forkjoin: " + number(all.join_waits, "join") + " had to wait for a stolen branch" +
            (known > 0 ? "; strands continued " + duration(all.late_ns / known) + " after its end on average, " +
                             duration(all.most_late_ns) + " at most"
                       : "") +
            "\n";
  if (all.most_ready_ns > 0)
    text += "forkjoin: fibers that could continue waited for a P for " + duration(all.ready_ns) + " in all, " +
            duration(all.most_ready_ns) + " at most\n";
  if (all.most_urgent_ready_ns > 0)
    text += "forkjoin: urgent fibers went before others " + number(all.urgent_turns, "time") +
            ", and waited for a P for " + duration(all.most_urgent_ready_ns) + " at most\n";
  if (all.blocking_calls > 0)
    text += "forkjoin: " + number(all.blocking_calls, "blocking call") + "; other strands took " +
            number(all.retakes, "P") + " from them" +
            (read.retakes_refused > 0 ? ", and could not " + number(read.retakes_refused, "time") : "") + "\n";
  if (all.exposures > 0)
    text += "forkjoin: " + number(all.exposures, "time") +
            " a thief took work by force, of a strand that had not forked for long while others looked for work\n";
  if (read.forks_fence)
    text +=
        "forkjoin: membarrier(2) and a signal in its place are not to be had, so each fork passes a fence, which makes "
        "it "
        "many times as slow; unset FORKJOIN_MEMBARRIER and FORKJOIN_FENCE_SIGNAL\n";
  if (read.fences_unanswered > 0)
    text +=
        "forkjoin: membarrier(2) is not to be had, and " + number(read.fences_unanswered, "time") +
        " a thread did not answer the signal in its place within 10 ms: meanwhile no work could be taken by force; do "
        "not block that signal (FORKJOIN_FENCE_SIGNAL)\n";
  text += "forkjoin: hint: " + hint(read, all, as) + "\n";
  if (all.busy_ns != 0) text += "forkjoin: which code that was: forkjoin-trace run PROGRAM\n";
  return text;
}

}}}  // namespace fj::v0_4::detail
