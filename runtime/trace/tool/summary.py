"""A trace in about ten lines, each of which a person can act on."""

import bisect
import collections
import itertools
import statistics

from story import union


def time(ns):
    for limit, unit, name in ((1e9, 1e9, "s"), (1e6, 1e6, "ms"), (1e3, 1e3, "us")):
        if abs(ns) >= limit:
            return f"{ns / unit:.3g} {name}"
    return f"{ns:.0f} ns"


def plural(n, what):
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def sites(story):
    """{name: [strands, time, time waited]}, the most time first. A strand's time has that of what it ran on top."""
    found = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for strand in story.strands:
        row = found[strand.name]
        row[0] += 1
        row[1] += strand.ran()
        row[2] += sum(wait.lasted(story.end) for wait in strand.waits)
    return dict(sorted(found.items(), key=lambda item: -item[1][1]))


def alone(story):
    """How long one P alone was busy while a job was under way, and {name: how long} of whom it ran then."""
    spans = [(begin, end) for begin, end, count in story.busy_procs() if count == 1]
    whom, at, total = collections.Counter(), 0, 0.0
    runs = story.runs
    for begin, end in spans:
        total += end - begin
        while at < len(runs) and runs[at].end <= begin:
            at += 1
        for i in range(at, len(runs)):
            run = runs[i]
            if run.begin >= end:
                break
            both = min(run.end, end) - max(run.begin, begin)
            if both > 0:
                whom[run.strand.name] += both
    return total, whom


def alone_beside_loops(story):
    """Of the time in which one P alone was busy: while another one saw that P's loops, which were over too soon to be shared."""
    loops, at, total = union(story.beside_loops), 0, 0.0
    for begin, end, count in story.busy_procs():
        while at < len(loops) and loops[at][1] <= begin:
            at += 1
        if count == 1:
            total += sum(max(0, min(end, last) - max(begin, first)) for first, last in itertools.takewhile(lambda span: span[0] < end, loops[at:]))
    return total


def alone_offering(story):
    """Of that time, what follows the first fork that was made public in each span: as no thread took it, the code need not be serial. What comes
    before it is."""
    offers = [event.at for event in story.file.events if event.kind == "publish"]
    total = 0.0
    for begin, end, count in story.busy_procs():
        first = bisect.bisect_left(offers, begin)
        if count == 1 and first < len(offers) and offers[first] < end:
            total += end - offers[first]
    return total


def lines(story):
    file, whole = story.file, story.working[1] - story.working[0]
    size = sum(thread.kept for thread in file.threads)
    yield (f"{file.path}: {time(whole)} of work by process {file.pid} on {plural(story.procs, 'P')}, {plural(size, 'event')} of {plural(sum(1 for thread in file.threads if thread.count), 'thread')}"
           + (", cut off by the end of the process" if file.cut_off else "")
           + (f"; {plural(file.lost, 'older event')} did not fit" if file.lost else "")
           + (f"; {plural(file.without_ring, 'thread')} had no room" if file.without_ring else ""))
    busy, looking, idle, unknown = (story.share(state) for state in ("busy", "looking", "idle", "unknown"))
    yield (f"the Ps were busy for {busy:.0%} of the time, looked for work for {looking:.0%}, and were idle for {idle:.0%}"
           + (f"; what they did for {unknown:.0%} is not known, as they had no event yet" if unknown > 0.005 else ""))

    too_short = alone_beside_loops(story)
    stolen = [strand for strand in story.strands if strand.kind == "stolen"]
    if story.steals:
        lasted = [strand.ran() for strand in stolen if strand.ended is not None]
        small = f"; half of the strands that they began ran for less than {time(statistics.median(lasted))}" if lasted else ""
        advice = "; larger leaves would help" if lasted and statistics.median(lasted) < 5_000 and looking > 0.1 and too_short < 0.1 * whole else ""
        yield f"{plural(len(story.steals), 'theft')}{small}{advice}"
    else:
        yield "nothing was stolen" + ("" if story.procs > 1 else ", because there is one P")

    if story.procs > 1:
        single, whom = alone(story)
        if whole and single / whole > 0.02:
            first = [f"{story.told(name)} ({time(ns)})" for name, ns in whom.most_common(2)]
            why = ""
            if has_short := too_short > 0.1 * single:
                why = f"; for {time(too_short)} of that its loops were too short to share: merge them, or parallelize an outer loop"
            offering = alone_offering(story)
            if offering > 0.5 * single:
                why += f"; in {time(offering)} of that a fork had been offered that no thread took: the others had no processor, or it is serial from there on"
            elif (single - too_short - offering) / whole > 0.1:
                why += "; the rest is serial" if has_short else "; that part is serial"
            yield f"for {time(single)}, {single / whole:.0%} of the time, one P alone was busy: it ran {' and '.join(first)}{why}"

    joins = [wait for wait in story.waits if wait.why == "join"]
    if joins:
        late = [wait.end - wait.ready for wait in joins if wait.end is not None and wait.ready is not None]
        most = max(joins, key=lambda wait: wait.lasted(story.end))
        yield (f"{plural(len(joins), 'join')} waited, {time(sum(wait.lasted(story.end) for wait in joins))} in all; the longest {time(most.lasted(story.end))}, "
               f"in {story.told(most.strand.name)}" + (f" for {story.told(most.by.name)}" if most.by else ""))
        if late:
            yield f"once what they waited for was there, strands continued after {time(statistics.median(late))} (median), {time(max(late))} at most"

    places = collections.defaultdict(list)
    for wait in story.waits:
        if wait.why not in ("join", "leaves"):
            places[wait.why].append(wait.lasted(story.end))
    for why, times in sorted(places.items(), key=lambda item: -sum(item[1]))[:3]:
        yield f"{plural(len(times), 'wait')} in {why}: {time(sum(times))} in all, {time(max(times))} the longest"

    in_vain = sum(end - begin for spans in story.idle_beside_private() for begin, end in spans)
    by_force = story.counts["expose"]
    if whole and in_vain > 0.01 * whole * story.procs or by_force > 0.1 * len(story.steals):
        beside = collections.Counter()
        for search in story.vain:
            if search.strand:
                beside[search.strand.name] += search.end - search.begin
        yield (f"for {time(in_vain)}, {in_vain / story.procs / whole if whole else 0:.0%} of the time of all Ps, Ps had nothing to do while forks were private"
               + (f", most of them of {story.told(beside.most_common(1)[0][0])}" if beside else "")
               + (f"; {plural(by_force, 'time')} thieves took work by force, of strands that had not forked for long: forking more often there "
                  "would help" if by_force else ""))

    for name, (number, ran, waited) in list(sites(story).items())[:3]:
        if ran > 0:
            yield f"{story.told(name)}: {plural(number, 'strand')}, {time(ran)}, waited {time(waited)}"

    ready = [(wait.end if wait.end is not None else story.end) - wait.ready for wait in story.waits if wait.ready is not None]
    if ready and max(ready) > 1e6:
        yield f"a strand that could continue had to wait for a P for up to {time(max(ready))}"
    urgent = [(wait.end if wait.end is not None else story.end) - wait.ready for wait in story.waits if wait.urgent]
    if urgent:
        yield f"an urgent one that could continue had to wait for a P for up to {time(max(urgent))}"
    awake = [wake.awake - wake.at for wake in story.wakes if wake.awake is not None]
    if awake and max(awake) > 1e6:
        yield f"a thread that was woken for a P ran only {time(max(awake))} later: another thread had its processor"


def compared(one, two):
    """Two traces of a program, such as on one P and on two: which code takes longer in the second."""
    first, second = sites(one), sites(two)
    total = sum(ran for _, ran, _ in first.values()), sum(ran for _, ran, _ in second.values())
    yield (f"on {plural(one.procs, 'P')} strands ran for {time(total[0])}, on {plural(two.procs, 'P')} for {time(total[1])}"
           + (f": {total[1] / total[0]:.2f} times as long" if total[0] else ""))
    names = sorted(set(first) & set(second), key=lambda name: first[name][1] - second[name][1])
    for name in names[:5]:
        before, after = first[name][1], second[name][1]
        if before > 0 and after > 0:
            yield f"{two.told(name)}: {time(before)} and {time(after)}, {after / before:.2f} times as long"
    if two.procs > one.procs and total[1] > 1.3 * total[0]:
        yield "the work itself takes longer with more Ps: memory, a shared cache line or a lock may be the limit"
