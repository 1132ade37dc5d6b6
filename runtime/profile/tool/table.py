"""A profile in lines of text."""

from model import PROCS

# Of the lines that fork, those with most of the span, up to so many and so much of it. Of the powers of two some. The page has all.
MOST_SITES, MOST_OF_SPAN = 5, 0.98
BUSY = 1.25
SLOW = 1.2  # on two P, by the prediction
SHOWN = [1, 2, 4, 8, 16, 64, 256, 1024, 4096]


def duration(ns):
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def percent(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else ""


def aligned(rows):
    """The first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]).rstrip()


def summary(profile, theft_is_measured):
    alone = profile.work + profile.forks * profile.fork
    yield (f"work {duration(profile.work)}, span {duration(profile.span)}: parallelism {number(profile.parallelism)}; "
           f"{profile.forks:,} forks" + (f"; {profile.lone_loops:,} loops too short to share" if profile.lone_loops else ""))
    yield (f"burdened span {duration(profile.burdened)}, with a theft of {duration(profile.theft)} wherever another P could take over: parallelism "
           f"{number(alone / profile.burdened if profile.burdened else 1)}")
    yield (f"{profile.runs} run{'s' if profile.runs > 1 else ''} with the profile; a fork that is not stolen takes {duration(profile.fork)}"
           f"{'' if theft_is_measured else '; the theft is not measured: there is one processor, or others keep it busy'}")
    if not profile.repeats:
        yield "the program did not fork alike in each run: the lengths are those of the last one, with what interrupted it"


def by_span(profile):
    return sorted(profile.sites, key=lambda site: (-site.on_span, -site.own))


def shown(sites, span):
    """How many of the first: as few as have nearly all of the span."""
    so_far = 0.0
    for n, site in enumerate(sites[:MOST_SITES], 1):
        so_far += site.on_span
        if so_far >= MOST_OF_SPAN * span:
            return n
    return min(MOST_SITES, len(sites))


def sites(profile, procs, is_long):
    sites = by_span(profile)
    n = len(sites) if is_long else shown(sites, profile.span)
    rows = [["", "of the span", "of the work", "forks", "parallelism", "twice as fast", "forks free"]]
    for site in sites[:n]:
        rows.append([site.name, percent(site.on_span, profile.span), percent(site.own, profile.work), f"{site.forks:,}" if site.is_fork else "",
                     number(site.parallelism) if site.parallelism else "", duration(profile.time_if_twice(site, procs)),
                     duration(profile.time_if_free(site, procs)) if site.is_fork else ""])
    if rest := sites[n:]:
        rows.append([f"{len(rest)} more (--long)", percent(sum(site.on_span for site in rest), profile.span),
                     percent(sum(site.own for site in rest), profile.work), "", "", "", ""])
    yield from aligned(rows)
    if any(site.kind == "after" for site in sites[:n]):
        yield "after a line: code outside every branch, after the join of forks there"
    if any(site.kind == "beside" for site in sites[:n]):
        yield "beside a line: code outside every branch, between forks there and their join"
    yield from too_short(profile)
    yield "of the span, of the work: by the line's own strands. parallelism: of its forks, with all in them"
    yield f"twice as fast, forks free: the program's time on {procs} P{'s' if procs > 1 else ''} if they were, now {duration(profile.time(procs))}"


def too_short(profile):
    """Lines whose loops run alone."""
    for site in sorted(profile.sites, key=lambda site: -site.lone)[:MOST_SITES]:
        if not site.lone_loops:
            break
        shared, burdened = site.lone_parallelism(profile.theft)
        yield (f"{site.name}: {site.lone_loops:,} loops too short to share, {number(shared)} elements in {duration(site.lone / site.lone_loops)} on average")
        yield f"    if shared: parallelism {number(shared)}, with thefts {number(burdened)}"


def unseen(profile, measured):
    """Why two Ps take longer than predicted, if they do: the largest of the factors that the profile cannot see. All of them together are the
    ratio of the two times."""
    predicted = profile.time(2)
    ratio = measured.on_two / predicted if predicted else 1
    if ratio <= SLOW:
        return
    on_one = measured.on_one / profile.time(1)
    computing, copies = measured.of_processors, measured.ceiling
    factors = [
        (on_one, "on one P it does, too: other programs, or first uses of memory", "run it again when the machine has nothing else to do"),
        (2 / computing, f"the machine's second processor, or programs that run on it: two that only compute get {computing:.2f} times what one gets",
         "run it where two processors are two cores: lscpu -e"),
        (computing / copies, f"memory: two copies of the program get {copies:.2f} times what one gets, two that only compute {computing:.2f}",
         "perf stat -e cache-misses"),
        (ratio / on_one * copies / 2, "what the strands share: a cache line that both Ps write, a lock, data that go from cache to cache",
         "perf c2c record, or forkjoin-trace summary of a trace on one P and one on two"),
    ]
    _, what, then = max(factors)
    yield f"two Ps took {ratio:.2f} times as long as predicted, for the most part by what no profile sees:"
    yield f"    {what}"
    yield f"    next: {then}"


def curve(profile, measured, is_long):
    alone = profile.time(1)
    rows = [["P", "predicted", "at best", "speed-up", "measured"]]
    for procs in PROCS if is_long else SHOWN:
        took = {1: measured.on_one, 2: measured.on_two}.get(procs) if measured else None
        rows.append([f"{procs:,}", duration(profile.time(procs)), duration(profile.best_time(procs)), number(alone / profile.time(procs) if profile.time(procs) else 1),
                     duration(took) if took else ""])
    yield from aligned(rows)
    yield "predicted: at most, by a greedy scheduler, with thefts. at best: no scheduler is faster"
    if measured and alone and measured.on_one > BUSY * alone:
        yield f"one P took {measured.on_one / alone:.3g} times as long as predicted: do other programs run, or does it wait?"
    if measured and measured.two:
        yield from unseen(profile, measured)
        on_this_machine = profile.time(2) * 2 / measured.ceiling
        yield (f"two copies of the program at once, on one P each, get {measured.ceiling:.2f} times what one gets here: two Ps would take "
               f"{duration(on_this_machine)}")


def lines(profile, measured, procs, theft_is_measured, is_long):
    yield from summary(profile, theft_is_measured)
    yield ""
    yield from sites(profile, procs, is_long)
    yield ""
    yield from curve(profile, measured, is_long)
