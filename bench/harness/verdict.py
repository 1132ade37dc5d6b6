"""Which of the scheduler's costs kept a program from being faster on many P, from the counters and the time of a run."""

from harness.tables import print_table, short

# Nanoseconds, of bench/simulate/costs.hpp: measured on two processors, those of lines and interrupts taken from other machines. They are
# good for an order of magnitude, which is all that a word tells.
WAKE = 24_500  # from one wake-up to the next, as the woken worker wakes the next one
THEFT = 400  # to a stolen record's first instruction, its end, and its arrival at the join
SUSPENSION = 320  # a strand leaves its stack, and goes on
FENCE, INTERRUPT = 9_000, 100  # membarrier, for the first processor and for each further one
NEAR, FAR = 23, 107  # a cache line from a processor of the same complex, of eight, and from another
COMPLEX = 8

CAUSES = {
    "wake-ups": "Ps were idle while others were woken one after another",
    "thefts": "what thefts, suspensions and resumptions take",
    "parks": "requests to all deques and membarrier, each time that a P parks or a thief makes records public by force",
    "mutex": "the lines of the dispatcher's mutex and counts, which one P has at a time: part of the time for which they are on their way",
    "stacks": "likewise the mutex of the pool of stacks",
}
YES, SOME = 0.2, 0.05  # parts of the time from which on a cause is met, or met a little


def causes(procs, counters, seconds):
    """{cause: part of the time that it took, 0 to 1}, in the order of CAUSES, of one run on so many P."""
    wall = seconds * 1e9
    all_procs = procs * wall
    line = FAR if procs > COMPLEX else NEAR
    of = {name: counters.get(name, 0) for name in ("steals", "suspensions", "parks", "exposures", "wakeups", "busy_ns", "looking_ns")}
    idle = max(0.0, 1 - (of["busy_ns"] + of["looking_ns"]) / all_procs)
    got = (
        min(idle, of["wakeups"] * WAKE / wall),
        (of["steals"] * THEFT + of["suspensions"] * SUSPENSION) / all_procs,
        (of["parks"] + of["exposures"]) * (FENCE + procs * (INTERRUPT + line)) / all_procs,
        # A thief begins to look and stops; who parks or is woken takes the mutex, too.
        (2 * of["steals"] + 4 * (of["parks"] + of["wakeups"])) * line / wall,
        2 * of["suspensions"] * line / wall,
    )
    return {name: min(1.0, part) for name, part in zip(CAUSES, got)}


def word(part):
    return "yes" if part >= YES else "some" if part >= SOME else "no"


def verdict(results, once):
    """A list of {"kernel", "size", "procs", "speed": over the serial program's, "causes"}: of each kernel and size by continuations on the
    most P. Empty if all ran on one. results, once: as of tables.print_results."""
    most = {}
    for kernel, size, way, procs in results:
        if way == "continuations" and procs > 1:
            most[kernel, size] = max(procs, most.get((kernel, size), 0))
    found = []
    for (kernel, size), procs in most.items():
        key = (kernel, size, "continuations", procs)
        one = once.get(key, {})
        if not one.get("seconds") or not one.get("counters"):
            continue
        over = results[key].get("vs_serial")
        found.append({"kernel": kernel, "size": size, "procs": procs, "speed": 1 / over.median if over else None,
                      "causes": causes(procs, one["counters"], one["seconds"])})
    return found


def print_verdict(found, compiler=""):
    if not found:
        return
    print(f"\nwhat kept the most P from more{f', {compiler}' if compiler else ''}: yes, some or no, and the part of the time")
    print_table([["", "P", "times serial", *CAUSES]]
                + [[f"{f['kernel']}({f['size']})", str(f["procs"]), short(f["speed"]) if f["speed"] else "-",
                    *(f"{word(part)} {100 * part:.0f}%" for part in f["causes"].values())] for f in found])
    for name, meaning in CAUSES.items():
        print(f"  {name}: {meaning}")
    met = [name for name in CAUSES if any(word(f["causes"][name]) == "yes" for f in found)]
    print(f"  The verdict: {', '.join(met) if met else 'none of them'}.")
