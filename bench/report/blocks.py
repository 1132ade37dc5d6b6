"""The tables in README and the other pages: what stands between the lines `<!-- figures: NAME -->` and `<!-- end of figures -->`,
made from the JSON files of bench/figures by the functions of BLOCKS. The sentences beside them are written by people; marks.py compares
the numbers in them. So each figure has a file and a commit behind it, and a test compares pages with files."""

import datetime
import pathlib
import re
from statistics import median

from markupsafe import Markup

from harness.figures import Figure, is_omp, is_tbb, ratio, side_of
from harness.tables import short
from harness.tables import verdict as goal_verdict
from peers.programs import OURS, SERIAL
from peers.tables import best_ways, league as league_of
from report import axes, marks
from report.recorded import (PROCS, beside_omp, build_of, compilers, deciding, fastest_other, forked_over_plain, mean, ours, problem_of, sides,
                             times_of_go, version)
from report.waits import Adaptive, Flat, Locality, Space, Trees, Waits

PAGES = ("README.md", "bench/README.md", "bench/PEERS.md", "bench/TALK.md", "bench/WAITING.md", "bench/TREES.md",
         "bench/FIGURES.md", "forkjoin/guide/performance.md", "runtime/README.md")
BLOCK = re.compile(r"(<!-- figures: ([\w+ ]+) -->\n).*?(<!-- end of figures -->\n)", re.DOTALL)
WIDTH = 140  # of a line of prose
VERDICTS = {1: "faster", 0: "–", -1: "slower", None: "too few rounds"}


# --- words ---

def number(x):
    return f"{x:,.0f}" if abs(x) >= 1000 else short(x)


def spread(summary):
    return "{} ({}–{})".format(*map(number, (summary["median"], *summary["interval"]))) if summary else ""


def inner(summary):
    """A spread within brackets."""
    return "{}; {}–{}".format(*map(number, (summary["median"], *summary["interval"])))


def spread_of(values):
    values = Figure(values)
    return spread(values.summary()) if values else ""


def code(name):
    return f"`{name}`"


def folded(text):
    """A paragraph, or an item of a list, in lines of WIDTH."""
    indent, lines = " " * len(re.match(r"(?:- |\d\. )?", text)[0]), [""]
    for word in text.split():
        if lines[-1].strip() and len(lines[-1]) + len(word) >= WIDTH:
            lines.append(indent + word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1].strip() else lines[-1] + word
    return "\n".join(lines) + "\n"


def grid(head, rows):
    """A table, without the columns that are empty."""
    used = [i for i in range(len(head)) if i == 0 or any(row[i] not in ("", "–") for row in rows)]
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(line[i]) for i in used) + " |\n" for line in lines)


def plain(cell):
    """Of a table for the report's pages."""
    return str(Markup(cell).striptags()).replace("…", "–")


def machine(report, *versions):
    env = report["environment"]
    day = datetime.datetime.fromisoformat(env["date"]).date().isoformat()
    kind = "a virtual machine with " if env.get("hypervisor") else ""
    where = f"{env['cpu']}, {kind}{env['cores']} processors, Linux {env['kernel'].split('-')[0]}"
    return "; ".join(filter(None, (where, ", ".join(versions), f"commit {env['commit'][:7]}, {day}")))


def one_tbb(report):
    return f"oneTBB {report['environment']['oneTBB']}"


def measured(figures, name):
    """Where and when a file of figures was measured."""
    report = figures.files[name]
    env = report["environment"]
    versions = [version(of["environment"]["compiler"]) for of in (report, *report.get("others", []))] if name not in ("peers", "league") else []
    versions += [one_tbb(report)] if name == "kernels" else []
    versions += [" ".join(env["go"].split()[2:3]).replace("go", "Go ", 1)] if env.get("go") else []
    return folded(f"{machine(report, *versions)}.")


# --- kernels ---

def called(data, problem):
    return code(problem[0]) + data.name(problem).removeprefix(problem[0])


def losses(figures):
    """The kernels in which oneTBB is significantly faster."""
    rows = [[called(data, problem), name, procs, spread(deciding(r))]
            for name, data in figures.each() for procs in PROCS for problem, r in ours(data, procs)
            if deciding(r) and side_of(deciding(r)) == -1]
    return grid(["kernel", "compiler", "Ps", "our speed over oneTBB's (interval)"], rows)


def means(figures):
    """Our speed over oneTBB's, geometric means."""
    rows = []
    for name, what in (("times_tbb_no_cut_off", "the {} kernels without a cut-off"), ("times_tbb", "all {} kernels")):
        over = len(mean(figures.gcc, name, 1)["over"])
        rows.append([what.format(over), *(number(mean(data, name, procs)["value"]) for _, data in figures.each() for procs in PROCS)])
    return grid(["our speed over that of oneTBB's fastest variant", "g++, one P", "two Ps", "clang, one P", "two Ps"], rows)


def best_tbb_way(data, problem, procs, is_one=is_tbb):
    times = [(r["median_ms"], key[2]) for key, r in data.results.items() if key[:2] == problem and key[3] == procs and is_one(key[2])]
    return min(times)[1] if times else None


def beside(figures):
    """In how many rows ours is faster or slower, and speed-ups."""
    rows = []
    for name, data in figures.each():
        for procs in PROCS:
            counts = [f"{found.count(1)} / {found.count(0)} / {found.count(-1)}"
                      for found in (sides(data, procs, take) for take in (deciding, beside_omp))]
            two = [number(mean(data, of, procs)["value"]) if procs > 1 else "" for of in ("speedup", "of_ceiling")]
            rows.append([name, procs, *counts, *two])
    return grid(["compiler", "Ps", "oneTBB: ours is faster / undecided / slower", "OpenMP: the same", "speed-up", "of the ceiling"], rows)


def kernels(figures, compiler):
    data = dict(figures.each())[compiler]
    head = ["kernel (size)", "over serial, one P", "two Ps", "times oneTBB, one P", "two Ps", "oneTBB's variant", "times OpenMP, one P",
            "two Ps"]
    rows = []
    for problem in data.problems:
        found = {procs: data.result(problem, "continuations", procs) for procs in PROCS}
        if not all(found.values()):
            continue
        ways = [code(way) for procs in PROCS if (way := best_tbb_way(data, problem, procs))]
        size = found[1].get("label") or f"{problem[1]:,}"
        rows.append([f"{code(problem[0])} ({size})", *(spread(r.get("vs_serial")) for r in found.values()),
                     *(spread(deciding(r)) + (" p" if r.get("vs_tbb_pairs") else "") for r in found.values()),
                     " / ".join(dict.fromkeys(ways)), *(spread(r.get("vs_omp")) for r in found.values())])
    return grid(head, rows)


def goals(figures):
    """Those that are missed or undecided."""
    return grid(["goal", "compiler", "figure", "bound", ""], [
        [g["what"], name, f"{g['value']:.4g}", f"{g['sense']} {g['bound']:.4g}", goal_verdict(g)]
        for name, data in figures.each() for g in data.report["goals"] if goal_verdict(g) != "met"])


def fib(figures):
    """Recursive fib by each variant, for the guide."""
    def line(what, take):
        return [what, *(take(data, problem_of(data, "fib")) for _, data in figures.each())]

    def over_serial(way):
        return lambda data, fib: spread(data.result(fib, way, 1).get("vs_serial"))

    rows = [line("serial", lambda data, fib: f"{number(data.result(fib, 'serial', 1)['median_ms'])} ms"),
            line("continuations, one P, over serial", over_serial("continuations")),
            line("tasks (`fj::tasks`), one P, over serial", over_serial("tasks")),
            line("`fj::scope`, one P, over serial", over_serial("scope")),
            line("`tbb::parallel_invoke`, one P, over serial", over_serial("tbb_invoke")),
            line("the same with one `task_group_context` for all forks", over_serial("tbb_context")),
            line("speed-up of continuations on two Ps", lambda data, fib: spread(data.result(fib, "continuations", 2)["speedup"])),
            *(line(f"times the speed of oneTBB's fastest variant, {PROCS[procs]}",
                   lambda data, fib, procs=procs: spread(data.result(fib, "continuations", procs)["vs_tbb"])) for procs in PROCS),
            ["instructions that a fork and its join add", *(f"{each:.1f}" for each in forked_over_plain(figures))]]
    return grid(["", *compilers(figures)], rows)


# --- policies ---

def policies(figures):
    heads = ["kernel", "compiler", "P", "first leave, ms", "first top", "first leap", "last leave", "last top", "last leap", "one join", "n"]
    return grid(heads, [[plain(cell) for cell in row] for row in axes.table(figures.policies).rows])


def effects(figures):
    """What the order and the join change, where that is significant."""
    table = axes.effects(figures.policies)
    return grid(table.head, [[plain(cell) for cell in row] for row in table.rows])


def counters(figures):
    """What strands hold and where they wait, of one run of each."""
    return grid(["kernel", "order and join", "deepest deque, one P", "steals, two Ps", "left their stack", "waits at joins", "stacks at most"],
                [[plain(cell) for cell in row] for row in axes.counters(figures.policies).rows])


# --- how joins wait, and what waits in memory ---

def trees(figures):
    of = Trees(figures.files["trees"])
    return "".join([grid(*of.distribution()), "\n", grid(*of.by_children()), "\n", grid(*of.by_fork()), "\n", grid(*of.by_work()), "\n", grid(*of.others()), "\n", where(of)])


def picture(figures, name):
    """Those of one file."""
    return "".join(shown(file, plot) for file, plot in pictures_of_waits(figures, name))


def slack(figures):
    return grid(*Trees(figures.files["trees"]).slack())


def lengths(figures):
    of = Trees(figures.files["trees"])
    return grid(*of.lengths()) + "\n" + grid(*of.long())


def children(figures):
    waits = Waits(figures.files["virtual"])
    simulated, measured = Trees(figures.files["trees"]).children(), waits.groups()
    if not measured[1]:
        return grid(*simulated)
    note = folded(f"And measured, with leaves that sleep: {waits.report['settings']['rounds']} rounds, times over `fork_join` with continuations.")
    return "\n".join([grid(*simulated), note, grid(*measured)])


def lateness(figures):
    waits = Waits(figures.files["virtual"])
    settings, checked = waits.report["settings"], [c["median"] for c in waits.report["checked"]]
    beside = (f" Leaves that sleep take {min(checked):.3f} to {max(checked):.3f} times as long as leaves that compute, on two Ps (medians)."
              if checked else "")
    short = waits.short_table()
    return "".join([
        folded(f"{machine(waits.report, version(waits.report['environment']['compiler']), one_tbb(waits.report))}; {settings['rounds']} rounds, "
               f"{settings['leaves']} leaves of {settings['unit_us'] / 1000:.2f} ms.{beside}"), "\n",
        picture(figures, "virtual"), "\n",
        grid(*waits.order_and_join()), "\n", grid(*waits.table()), "\n", grid(*waits.simulated_table()), "\n",
        grid(*short) if short[1] else "Leaves of 20, 1 and 0.1 us that compute, on two Ps: not measured.\n"])


def memory(figures):
    space = Space(figures.files["space"])
    return "".join([
        folded(f"{machine(space.report, version(space.report['environment']['compiler']), one_tbb(space.report))}; the median of "
               f"{space.report['settings']['runs']} processes."), "\n",
        picture(figures, "space"), "\n",
        grid(*space.table())])


def bounds(figures):
    return grid(*Trees(figures.files["trees"]).bounds())


def adaptive(figures):
    of = Adaptive(figures.files["adaptive"])
    seeds, commit = of.report["settings"]["seeds"], of.report["environment"]["commit"][:7]
    return grid(*of.times()) + "\n" + grid(*of.distribution()) + "\n" + grid(*of.of_fastest()) + "\n" + folded(
        f"Simulated, {seeds} schedules of each random tree, {min(seeds, 3)} of each other; commit {commit}.")


def flat_nodes(figures):
    of = Flat(figures.files["flat"])
    seeds, commit = of.report["flat"][0]["continuations"]["times"]["rounds"], of.report["environment"]["commit"][:7]
    return grid(*of.table()) + "\n" + folded(f"Simulated, {seeds} schedules; commit {commit}.")


def forms(figures):
    return grid(*Adaptive(figures.files["adaptive"]).forms())


def locality(figures):
    of = Locality(figures.files["locality"])
    environment = of.report["environment"]
    return grid(*of.table()) + "\n" + folded(f"{environment['cpu']}, two virtual processors; {of.report['settings']['rounds']} rounds; commit "
                                             f"{environment['commit'][:7]}.")


def where(trees):
    environment = trees.report["environment"]
    return folded(f"Simulated, {trees.settings['seeds']} schedules of each tree, {min(trees.settings['seeds'], 3)} on 64 Ps; commit {environment['commit'][:7]}.")


DRAWN = {"virtual": Waits, "space": Space, "trees": Trees}


def pictures_of_waits(figures, *names):
    """[(the file in the checkout, a plot)], of these files of figures, or of all."""
    plots = [plot for name in names or DRAWN for plot in DRAWN[name](figures.files[name]).plots()]
    return [(f"bench/report/{plot.name}.svg", plot) for plot in plots]


def shown(file, plot):
    """A picture, in a page of bench/."""
    return f"![{plot.title}]({file.removeprefix('bench/')})\n"


# --- other libraries ---

def peers(figures):
    report = figures.files["peers"]
    best = best_ways(report["results"])
    names = list(dict.fromkeys(r["peer"] for r in report["results"] if r["peer"] not in (OURS, SERIAL)))
    rows = []
    for (kernel, size), procs, fastest in fastest_other(report):
        cells = []
        for name in (OURS, *names):
            row = best.get((kernel, procs, name))
            few = sum(ms is not None for ms in row["ms"]) if row else 0
            cells.append("" if not row or "vs_serial" not in row else number(row["vs_serial"]["median"]) + (f" (n = {few})" if few < 5 else ""))
        side = fastest and side_of(fastest[1])  # of our time over the other's
        rows.append([f"`{kernel}` ({size}), {procs}", *cells, f"{spread(fastest[1])}, {fastest[0]}" if fastest else "",
                     VERDICTS[side and -side] if fastest else ""])
    return grid(["kernel (size), P", "ours", *names, "ours over the fastest other", "ours is"], rows)


def libraries(figures):
    return "".join(folded(f"- {peer['name']}: {peer['what']}") for peer in figures.files["peers"]["peers"] if peer["found"])


def league(figures):
    report = figures.files["league"]
    (procs,) = report["settings"]["procs"]
    sizes = {row["kernel"]: row["size"] for row in report["results"]}
    rows = []
    for peer, mean, own in league_of(report["results"], procs):
        few = "" if len(own) == len(sizes) else f" (of {len(own)})"
        rows.append([peer, f"{mean:.2f}{few}", *(number(own[k]["median_ms"]) if k in own else "" for k in sizes),
                     *(f"{own[k]['peak_kib'] / 1024:.1f}" if "peak_kib" in own.get(k, {}) else "" for k in sizes)])
    return grid(["library", "mean ratio to the best", *(f"`{k}` ({size:,}), ms" for k, size in sizes.items()), *(f"`{k}`, MiB" for k in sizes)], rows)


# --- Go ---

def talk(figures):
    results = figures.files["talk"]["results"]
    rows = []
    for case in dict.fromkeys(r["case"] for r in results):
        found = {r["procs"]: r for r in results if r["case"] == case}
        row = [code(case), found[1]["what"]]
        for r in (found[procs] for procs in PROCS):
            times = times_of_go(r)
            row += [number(median(build_of(r["seconds"])) / r["n"] * 1e9), spread(times), VERDICTS[side_of(times)]]
        rows.append(row)
    return grid(["case", "an operation", "ns, one P", "Go's time over ours", "ours is", "ns, two Ps", "Go's time over ours", "ours is"], rows)


def echo(figures):
    rows = []
    for r in figures.files["echo"]["results"]:
        for name, rounds in (("ours", build_of(r["rounds"])), ("Go", r["rounds"]["go"])):
            rows.append([code(r["case"]), r["procs"], name, *(spread_of([each[what] for each in rounds])
                                                              for what in ("rate", "p50", "p99", "p999"))])
    return grid(["case", "P", "", "requests a second", "p50, us", "p99, us", "p99.9, us"], rows)


CALLS = {("sleep", "build"): ("nanosleep", "`fj::blocking`"), ("sleep_now", "build"): ("nanosleep", "`fj::blocking_now`"),
         ("sleep", "go"): ("nanosleep", "Go"), ("bare", "build"): ("nanosleep", "`bare`"), ("read", "build"): ("read", "`fj::blocking`"),
         ("read_now", "build"): ("read", "`fj::blocking_now`"), ("read", "go"): ("read", "Go")}


def handover(figures):
    found = {(r["case"], r["procs"]): r["microseconds"] for r in figures.files["handover"]["results"]}

    def cell(case, who, procs, what):
        of = found[case, procs]["go"] if who == "go" else build_of(found[case, procs])
        return ", ".join(map(number, of[what][:2])) if (case, what) != ("bare", "other") else ""

    return grid(["call", "", "other, one P", "two Ps", "caller, one P", "two Ps"],
                [[call, by, *(cell(case, who, procs, what) for what in ("other", "caller") for procs in PROCS)]
                 for (case, who), (call, by) in CALLS.items()])


BLOCKS = {of.__name__: of for of in (measured, losses, means, beside, kernels, goals, fib, effects, policies, counters, trees, picture, slack,
                                     lengths, children, flat_nodes, adaptive, forms, locality, lateness, memory, bounds, league, peers, libraries, talk, echo,
                                     handover)}


def written(name, page, figures):
    """A page's text with its tables and its marked numbers."""
    def block(found):
        begin, of, end = found.groups()
        made, *arguments = of.split()
        return begin + "\n" + BLOCKS[made](figures, *arguments) + "\n" + end

    return BLOCK.sub(block, marks.filled(name, page, figures))


def write_pages(root, figures):
    """Returns the names of the pages that have changed. Writes none if a marked number of one of them is wrong."""
    changed, wrong = {}, []
    for name in PAGES:
        old = (pathlib.Path(root) / name).read_text()
        try:
            new = written(name, old, figures)
        except marks.Wrong as error:
            wrong.append(str(error))
            continue
        if new != old:
            changed[name] = new
    if wrong:
        raise marks.Wrong("\n".join(wrong))
    for name, new in changed.items():
        (pathlib.Path(root) / name).write_text(new)
    return list(changed)
