"""The page "Tasks against continuations": why the two differ, and by how much here. What the mechanism entails is said
as such; everything else is worded from the figures, so that it is true of whatever was measured."""

from html import escape

from report.markup import mib, page, plots, section, spread, table, value, words
from report.data import AGREE, CLEAR, COUNTERS, ROUNDS

HEADS = {"steals": "steals", "suspensions": "suspensions", "join_waits": "join waits", "deepest_deque": "deepest deque",
         "stacks_peak": "stacks at most"}
PAIR = ("continuations", "tasks")


def pairs(data, take):
    """[(problem, continuations' figure, tasks' figure)] where both are known."""
    found = [(problem, *(take(problem, way) for way in PAIR)) for problem in data.problems]
    return [(problem, ours, tasks) for problem, ours, tasks in found if ours is not None and tasks is not None]


def counts(data, name, procs):
    return pairs(data, lambda problem, way: data.counter(problem, way, procs, name))


def called(data, problem):
    return escape(data.name(problem))


def names(data, problems):
    return words([data.name(p) for p in problems])


def more_often(data, found, what):
    """Who has more of it, by problem."""
    more = {"continuations": [], "tasks": [], "as many": []}
    for problem, ours, tasks in found:
        more["continuations" if ours > tasks else "tasks" if tasks > ours else "as many"].append(problem)
    said = []
    if more["tasks"]:
        said.append(f"tasks have more {what} in {names(data, more['tasks'])}")
    if more["continuations"]:
        said.append(f"continuations have more in {names(data, more['continuations'])}")
    if more["as many"]:
        said.append(f"both have as many in {names(data, more['as many'])}")
    return "; ".join(said) + "." if said else ""


def faster_in(data, by):
    """by: {who: problems}"""
    parts = [("continuations are faster in", "continuations"), ("tasks are faster in", "tasks"),
             ("no clear difference in", "neither")]
    return "; ".join(f"{said} {names(data, by[who])}" for said, who in parts if by.get(who))


def verdicts(data):
    said = []
    for procs in data.procs:
        by = {"continuations": [], "tasks": [], "neither": []}
        for problem in data.problems:
            if (who := data.faster(problem, procs)):
                by[who].append(problem)
        if any(by.values()):
            said.append(f"<li>P = {procs}: {faster_in(data, by)}.</li>")
    return "<ul>" + "".join(said) + "</ul>" if said else "<p>The two were not measured together.</p>"


def time(data, made):
    rows = []
    for problem in data.problems:
        for procs in data.procs:
            if (figure := data.tasks_over_continuations(problem, procs)):
                who = data.faster(problem, procs)
                rows.append([data.full_name(problem), value(procs),
                             *(value(data.result(problem, way, procs)["median_ms"]) for way in PAIR),
                             spread(figure.summary()), {"neither": "no clear difference"}.get(who, who)])
    return section("time", "Time",
                   f"<p>One is called faster if the median of the rounds' ratios differs by more than {CLEAR:.0%} and "
                   f"at least {AGREE:.0%} of the rounds, of which there must be {ROUNDS}, agree.</p>",
                   verdicts(data), plots(made["against"]),
                   table("Time by tasks and by continuations", ["kernel", "P", "continuations, ms", "tasks, ms",
                         "tasks over continuations (least…most)", "faster"], rows))


def order(data):
    said = ["<p>With continuations the child is called at the fork, as in the serial program; the deque holds the rest "
            "of the caller. On one P nobody takes that rest, so everything runs in serial order. With tasks the deque "
            "holds the child, and the caller goes on; when it comes to the join it takes the youngest child first. For "
            "four children <i>a b c d</i> of one node, on one P: continuations run <i>a b c d</i>; tasks run <i>d c b "
            "a</i>, each after it has been kept for later.</p>"]
    stolen = counts(data, "steals", 1)
    if stolen:
        ours, tasks = sum(o for _, o, _ in stolen), sum(t for _, _, t in stolen)
        said.append(f"<p>On one P there were {value(ours)} steals by continuations and {value(tasks)} by tasks in all. "
                    + ("What differs there is the order and the code of a fork alone." if ours == tasks == 0 else "")
                    + "</p>")
    figures = [(p, f.median) for p in data.problems if (f := data.tasks_over_continuations(p, 1))]
    if figures:
        least, most = min(figures, key=lambda f: f[1]), max(figures, key=lambda f: f[1])
        said.append(f"<p>Tasks' time over continuations' on one P lies between {value(least[1])} "
                    f"({called(data, least[0])}) and {value(most[1])} ({called(data, most[0])}).")
        search = next((f for f in figures if f[0][0] == "knapsack"), None)
        if search:
            said.append(f" A search that prunes by the best found so far does more or less work in another order: "
                        f"{called(data, search[0])} has {value(search[1])}.")
        said.append("</p>")
    return section("order", "Order on one P", *said)


def records(data):
    found = counts(data, "deepest_deque", 1)
    said = ["<p>A loop that forks its n children one after another holds one record with continuations, the rest of "
            "the loop, however large n is. With tasks it holds all the children that have not been taken: n. A "
            "recursion into two holds at most a record for each level in either case.</p>"]
    if found:
        real = all("deepest_deque" in data.once(p, way, 1) for p, _, _ in found for way in PAIR)
        origin = "Counted in a run of each in which all records are public" if real else \
            "This is the simulator's count, which runs the same forks on the library's own deque"
        said.append(f"<p>The deepest deque on one P: {more_often(data, found, 'records')} {origin}.")
        sky = next((f for f in found if f[0][0] == "skynet"), None)
        if sky:
            said.append(f" Each node of {called(data, sky[0])} forks its ten children one after another: at most "
                        f"{value(sky[1])} records at a time with continuations, {value(sky[2])} with tasks.")
        said.append("</p>")
    else:
        said.append("<p>How deep the deques became was not counted: the simulator was not there.</p>")
    return section("records", "Records held", *said)


def waits(data):
    procs = data.most
    said = ["<p>When a child was stolen and is not done at the join, a strand with continuations leaves its stack, and "
            "the worker looks for other work: a suspension. Whoever comes last to the join goes on after it, so no "
            "worker ever waits there. With tasks the strand stays where it is and runs other tasks on top of its stack "
            "until the child is done: a join wait. If the child ends meanwhile, what lies below has to wait for what "
            "was begun on top of it. The strand suspends only if there is nothing to run, or if half the stack is used "
            "up.</p>"]
    left, waited = counts(data, "suspensions", procs), counts(data, "join_waits", procs)
    if waited:
        said.append(f"<p>On {procs} P, in one run of each kernel: continuations suspended "
                    f"{value(sum(o for _, o, _ in left))} times and waited {value(sum(o for _, o, _ in waited))} "
                    f"times; tasks suspended {value(sum(t for _, _, t in left))} times and waited "
                    f"{value(sum(t for _, _, t in waited))} times.</p>")
    return section("waits", "Waits at joins", *said)


def steals(data, made):
    procs = data.most
    found = counts(data, "steals", procs)
    said = ["<p>A thief takes the oldest record. With continuations that is the rest of the whole program above the "
            "victim, so it tends to be large, and the thief forks in turn. With tasks it is one child.</p>"]
    if procs == 1:
        said.append("<p>Only one P was measured: nothing was stolen.</p>")
    elif found:
        said.append(f"<p>On {procs} P: {more_often(data, found, 'steals')} In all, "
                    f"{value(sum(o for _, o, _ in found))} by continuations and {value(sum(t for _, _, t in found))} "
                    "by tasks.</p>")
    rows = []
    for problem in data.problems:
        for way in PAIR:
            row = [value(data.counter(problem, way, procs, name)) for name in COUNTERS if name != "deepest_deque"]
            deepest = value(data.counter(problem, way, 1, "deepest_deque"))
            if set(row) | {deepest} != {"–"}:
                rows.append([data.full_name(problem), way, *row, deepest])
    heads = [f"{HEADS[name]}, P = {procs}" for name in COUNTERS if name != "deepest_deque"] + ["deepest deque, P = 1"]
    return section("steals", "Steals, and all counters", *said, plots(made["counters"]),
                   table("Counters of one run in a process of its own", ["kernel", "way", *heads], rows, left=2))


def deepest(data):
    """The tree that tasks' stacks grow most on, by name: T3L, else T3; else whatever grew most."""
    for label in ("T3L", "T3"):
        for problem in data.problems:
            if data.result(problem, "tasks", data.most).get("label") == label:
                return problem
    grown = [(g, p) for p in data.problems if (g := data.growth(p, "tasks", data.most))]
    return max(grown)[1] if grown else None


def stacks(data):
    procs = data.most
    said = ["<p>A thief of a continuation begins on an empty stack, and a suspended one keeps what it has: many "
            "stacks, none deeper than the serial program's. A task that waits piles others on top of itself: few "
            "stacks, which may become deeper than any serial execution. Frames in use are at most P times the serial "
            "program's with continuations; for tasks there is no such bound. What a suspended or free stack used "
            "beyond 64 KiB is given back to the system.</p>"]
    found = counts(data, "stacks_peak", procs)
    if found:
        said.append(f"<p>Stacks in use at most, on {procs} P: {more_often(data, found, 'stacks')}</p>")
    problem = deepest(data)
    if problem:
        figures = [f"{way} {mib(data.growth(problem, way, p))} MiB on {p} P" for way in PAIR for p in sorted({1, procs})
                   if data.growth(problem, way, p) is not None]
        said.append(f"<p>While {data.full_name(problem)} ran, memory came: {'; '.join(figures)}.</p>" if figures
                    else "")
    return section("stacks", "Stacks", *said)


def memory(data, made):
    procs = data.most
    found = pairs(data, lambda problem, way: data.peak(problem, way, procs))
    said = []
    if found:
        most = max(found, key=lambda f: abs(f[2] - f[1]))
        by = {"less in": [], "more in": [], "about as much in": []}
        for p, ours, tasks in found:
            by["less in" if ours * (1 + CLEAR) < tasks else "more in" if ours > tasks * (1 + CLEAR)
               else "about as much in"].append(p)
        told = ", ".join(f"{what} {names(data, problems)}" for what, problems in by.items() if problems)
        said.append(f"<p>On {procs} P a process with continuations needs, at its peak, {told}, compared with tasks "
                    f"(differences of up to {CLEAR:.0%} are not told apart). The largest difference is in "
                    f"{called(data, most[0])}: {mib(most[1])} MiB with continuations, {mib(most[2])} with tasks.</p>")
        over = [p for p, ours, _ in found if (bound := data.bound(p, "continuations", procs)) and ours > bound]
        if any(data.bound(p, "continuations", procs) for p, *_ in found):
            said.append(f"<p>Kernels in which continuations exceeded the bound on {procs} P: {names(data, over)}.</p>")
    rows = []
    for problem, _, _ in pairs(data, lambda problem, way: data.peak(problem, way, 1) or data.peak(problem, way, procs)):
        for way in PAIR:
            rows.append([data.full_name(problem), way, mib(data.growth(problem, way, 1)),
                         mib(data.growth(problem, way, procs)),
                         mib(data.peak(problem, way, procs)), mib(data.bound(problem, way, procs))])
    return section("memory", "Memory", *said, plots(made["memory"][-1:]),
                   table("Memory, in MiB",
                         ["kernel", "way", "came while it ran, P = 1", f"came while it ran, P = {procs}",
                                            f"peak, P = {procs}", f"bound, P = {procs}"], rows, left=2))


def many(data):
    """What the simulator says of more processors than there are."""
    rows = []
    by = {}
    for problem, run in data.simulated.items():
        for procs in sorted({r["procs"] for r in run["runs"]}):
            ours, tasks = (data.simulated_run(problem, way, procs) for way in PAIR)
            if not ours or not tasks:
                continue
            times = tasks["time_ns"] / ours["time_ns"]
            who = "continuations" if times > 1 + CLEAR else "tasks" if times < 1 / (1 + CLEAR) else "neither"
            by.setdefault(procs, {}).setdefault(who, []).append(problem)
            if procs in (64, 1024, 4096):
                rows.append([data.full_name(problem), value(procs), value(ours["speedup"]), value(tasks["speedup"]),
                             value(times),
                             *(value(r[name]) for name in ("steals", "waits", "peak_stacks") for r in (ours, tasks))])
    if not by:
        return section("many", "On many processors", "<p>The simulator was not there.</p>")
    said = [f"<li>P = {procs:,}: {faster_in(data, who)}.</li>" for procs, who in sorted(by.items()) if procs > 1]
    heads = [f"{name}, {way}" for name in ("steals", "waits", "stacks") for way in PAIR]
    return section("many", "On many processors",
                   "<p>Simulated, not measured: the same forks, by the library's own rules and with costs "
                   f"measured on one or two processors. Differences of up to {CLEAR:.0%} are not called clear.</p><ul>",
                   *said, "</ul>",
                   table("Simulated", ["kernel", "P", *(f"speed-up, {way}" for way in PAIR),
                                       "tasks' time over continuations'", *heads],
                         rows))


def tasks_win(data):
    won = [(problem, procs, f.median) for procs in data.procs for problem in data.problems
           if data.faster(problem, procs) == "tasks" and (f := data.tasks_over_continuations(problem, procs))]
    if won:
        listed = "".join(f"<li>{data.full_name(p)} on {procs} P: {value(times)} of continuations' time</li>" for p,
                         procs, times in won)
        said = f"<p>Here tasks were clearly faster:</p><ul>{listed}</ul>"
    else:
        said = "<p>In these figures tasks are clearly faster nowhere.</p>"
    return section("tasks-win", "Where tasks win", said,
                   "<p>What can speak for tasks: the join of a stolen child costs no change of stacks as long as there "
                   "is other work to run; another order may find a good solution of a search earlier, or touch memory "
                   "more luckily; and a compiler may make better code of one than of the other.</p>")


def comparison_page(data, made, links):
    parts = [("time", "Time"), ("order", "Order on one P"), ("records", "Records held"), ("waits", "Waits at joins"),
             ("steals", "Steals"), ("stacks", "Stacks"), ("memory", "Memory"), ("many", "Many processors"),
             ("tasks-win", "Where tasks win")]
    intro = ("<p>Both ways run on the same deque, workers and kernels; only what a fork pushes differs. "
             "<b>Continuations</b>: the child is called, what follows it may be stolen. <b>Tasks</b>: the child may be "
             "stolen, the caller goes on. Every figure in the text comes from the measurement that the report is "
             "about.</p>")
    return page("Tasks against continuations", [*links, *((f"#{name}", text) for name, text in parts)], intro,
                time(data, made),
                order(data), records(data), waits(data), steals(data, made), stacks(data), memory(data, made),
                many(data),
                tasks_win(data))
