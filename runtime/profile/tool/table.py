"""A profile in lines of text."""

from model import PROCS

MOST_SITES = 20


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
           f"{profile.forks:,} forks")
    yield (f"with a theft on each edge that a thief could take, span {duration(profile.burdened)}: parallelism "
           f"{number(alone / profile.burdened if profile.burdened else 1)}")
    yield (f"{profile.runs} run{'s' if profile.runs > 1 else ''}; a theft takes {duration(profile.theft)}"
           f"{'' if theft_is_measured else ' (not measured: the machine is too busy)'}, a fork that is not stolen {duration(profile.fork)}")
    if not profile.repeats:
        yield "the program did not fork alike in each run: the lengths are those of the last one, with what interrupted it"


def by_span(profile):
    return sorted(profile.sites, key=lambda site: (-site.on_span, -site.own))


def sites(profile, procs):
    now = profile.time(procs)
    rows = [["", "forks", "of the work", "of the span", "parallelism in it", f"twice as fast: {procs} P", f"forks free: {procs} P"]]
    for site in by_span(profile)[:MOST_SITES]:
        rows.append([site.name, f"{site.forks:,}" if site.is_fork else "", percent(site.own, profile.work), percent(site.on_span, profile.span),
                     number(site.parallelism) if site.parallelism else "",
                     duration(profile.time_if_twice(site, procs)), duration(profile.time_if_free(site, procs)) if site.is_fork else ""])
    yield from aligned(rows)
    if len(profile.sites) > MOST_SITES:
        yield f"and {len(profile.sites) - MOST_SITES} more"
    yield f"{procs} P: {duration(now)} as it is"


def curve(profile, measured):
    alone = profile.time(1)
    rows = [["P", "predicted", "at best", "speed-up", "measured"]]
    for procs in PROCS:
        took = {1: measured.on_one, 2: measured.on_two}.get(procs) if measured else None
        rows.append([f"{procs:,}", duration(profile.time(procs)), duration(profile.best_time(procs)), number(alone / profile.time(procs)),
                     duration(took) if took else ""])
    yield from aligned(rows)
    if measured and measured.two:
        on_this_machine = profile.time(2) * 2 / measured.ceiling
        yield (f"two copies of the program at once, on one P each, get {measured.ceiling:.2f} times what one gets: so two P would take "
               f"{duration(on_this_machine)} here")


def lines(profile, measured, procs, theft_is_measured):
    yield from summary(profile, theft_is_measured)
    yield ""
    yield from sites(profile, procs)
    yield ""
    yield from curve(profile, measured)
