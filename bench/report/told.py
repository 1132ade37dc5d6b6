"""The figures in README and the other pages: what stands between the lines `<!-- figures: NAME -->` and `<!-- end of figures -->`,
made from the JSON files of bench/figures by the functions of BLOCKS. So each figure has a file and a commit behind it, a conclusion
follows from its figures by a rule, and a test compares pages with files."""

import datetime
import json
import pathlib
import re
from statistics import median

from markupsafe import Markup

from harness.figures import Figure, is_omp, is_tbb, ratio, side_of
from harness.tables import short
from harness.tables import verdict as goal_verdict
from peers.programs import OURS, SERIAL
from peers.tables import best_ways, league as league_of
from report import axes
from report.data import CLEAR, Data
from report.pages import words
from report.waits import Space, Waits

PAGES = ("README.md", "bench/README.md", "bench/PEERS.md", "bench/TALK.md", "bench/WAITING.md", "forkjoin/guide/performance.md")
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->\n)", re.DOTALL)
ALONE = ("virtual", "space", "league")  # may be of a commit of its own, which the page says
FILES = ("kernels", "policies", "peers", "talk", "echo", "handover", "instructions", "instructions-bench", "debian13")
WIDTH = 140  # of a line of prose
PROCS = {1: "one P", 2: "two P"}


class Figures:
    """All files of a folder. They have to be of one commit without changes."""

    def __init__(self, folder):
        self.files = {name: json.loads((pathlib.Path(folder) / f"{name}.json").read_text()) for name in FILES}
        commits = {file["environment"]["commit"] for file in self.files.values()}
        if len(commits) > 1 or None in commits or "changes" in "".join(commits):
            raise ValueError(f"the figures are of more than one commit, or of a changed tree: {', '.join(map(str, commits))}")
        self.files |= {name: json.loads((pathlib.Path(folder) / f"{name}.json").read_text()) for name in ALONE}
        self.gcc = Data(self.files["kernels"])
        (self.clang,) = self.gcc.others

    def each(self):
        """[(a compiler's name, its figures)]"""
        return [("g++", self.gcc), ("clang", self.clang)]


# --- words ---

def version(text):
    """gcc 12.2.0 and g++ 12.2.0: g++ 12.2"""
    return re.sub(r"^gcc\b", "g++", " ".join(text.split()[:2])).removesuffix(".0")


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
    return (f"{env['cpu']}, {kind}{env['cores']} processors, Linux {env['kernel'].split('-')[0]}; "
            f"{', '.join(filter(None, versions))}; commit {env['commit'][:7]}, {day}")


def compilers(figures):
    return [version(of.report["environment"]["compiler"]) for _, of in figures.each()]


def one_tbb(report):
    return f"oneTBB {report['environment']['oneTBB']}"


# --- kernels ---

def fib_of(data):
    return next(problem for problem in data.problems if problem[0] == "fib")


def deciding(result):
    """Our speed over that of the quickest of oneTBB's ways: of the pairs, where there were some."""
    return result.get("vs_tbb_pairs") or result.get("vs_tbb")


def ours(data, procs):
    """[(problem, result)] of continuations."""
    return [(problem, r) for problem in data.problems if (r := data.result(problem, "continuations", procs))]


def called(data, problem):
    return code(problem[0]) + data.name(problem).removeprefix(problem[0])


def behind(figures, take, known=lambda problem: True):
    """The kernels in which ours is told apart below another, in words, by compiler and P."""
    found = []
    for name, data in figures.each():
        for procs in PROCS:
            for problem, r in ours(data, procs):
                if known(problem) and take(r) and side_of(take(r)) == -1:
                    without = take(data.result(problem, "no_grain", procs))
                    more = f"; without a grain {inner(without)}" if without else ""
                    found.append(f"{called(data, problem)} by {name} on {PROCS[procs]} ({inner(take(r))}{more})")
    return found


def counted(data, procs, take):
    """ahead in 12, not told apart in 3, behind in 1"""
    signs = [side_of(take(r)) for _, r in ours(data, procs) if take(r)]
    return f"{signs.count(1)} / {signs.count(0)} / {signs.count(-1)}"


def mean(data, name, procs):
    return next(m for m in data.report["means"] if (m["name"], m["procs"]) == (name, procs))


def means_table(figures):
    """Our speed over oneTBB's, geometric means."""
    rows = []
    for name, what in (("times_tbb_no_cut_off", "kernels without a cut-off"), ("times_tbb", "all kernels")):
        over = len(mean(figures.gcc, name, 1)["over"])
        rows.append([f"the {over} {what}" if name != "times_tbb" else f"all {over} kernels",
                     *(number(mean(data, name, procs)["value"]) for _, data in figures.each() for procs in PROCS)])
    return grid(["our speed over that of oneTBB's quickest way", "g++, one P", "two P", "clang, one P", "two P"], rows)


def newer_tbb(figures):
    """The headline's sentence beside a current oneTBB."""
    report = figures.files["debian13"]
    data = Data(report)
    one, two = (deciding(data.result(fib_of(data), "continuations", procs))["median"] for procs in PROCS)
    return (f"In Debian 13, with {one_tbb(report)} and {version(report['environment']['compiler'])}, it takes "
            f"{number(one)} and {number(two)} times as long.")


def forked_over_plain(figures):
    counts = [figures.files[name]["instructions"] for name in ("instructions", "instructions-bench")]
    return [f"{each['continuations'] - each['serial']:.1f}" for each in counts]


def flat_loss(figures):
    data = figures.gcc
    flat = next(problem for problem in data.problems if problem[0] == "flat")
    summary = data.result(flat, "continuations", 2)["speedup"]
    low, high = (1 / v for v in reversed(summary["interval"]))
    return (f"a flat loop of {flat[1]:,} forks of empty leaves on two P takes {number(1 / summary['median'])} times as long as on one "
            f"({number(low)}–{number(high)})")


def behind_tbb(figures):
    found = behind(figures, deciding)
    return f"Slower than oneTBB's quickest way, beyond the noise: {words(found)}." if found else \
        "No kernel is slower than oneTBB's quickest way beyond the noise."


def losses(figures):
    """The kernels in which oneTBB is ahead, for README's first screen."""
    rows = [[called(data, problem), name, procs, spread(deciding(r))]
            for name, data in figures.each() for procs in PROCS for problem, r in ours(data, procs)
            if deciding(r) and side_of(deciding(r)) == -1]
    return grid(["kernel", "compiler", "Ps", "our speed over oneTBB's (interval)"], rows)


def readme(figures):
    """Picture's caption, and the facts."""
    data, (gcc, clang), (by_gcc, by_clang) = figures.gcc, compilers(figures), forked_over_plain(figures)
    fib = fib_of(data)
    one, two = (data.result(fib, "continuations", procs) for procs in PROCS)
    rounds = one["vs_serial"]["rounds"]
    return "\n".join([
        folded(f"*Recursive `fib({fib[1]})` on one P and on two, the medians of {rounds} rounds. "
               f"{machine(data.report, gcc, one_tbb(data.report))}. `./dev bench --record`.*"),
        folded(f"- In recursive `fib` a fork and its join add {by_gcc} instructions by {gcc}, and {by_clang} by {clang}, to the two plain "
               "calls (`bench/instructions.py --build build`, after `./dev bench fib`; needs valgrind).")
        + folded(f"- By g++, `fib({fib[1]})`, {one['forks']:,} forks, takes {number(one['vs_serial']['median'])} times the serial time on "
                 f"one P, and {number(two['vs_serial']['median'])} on two. oneTBB's quickest way, which makes a task for each fork, takes "
                 f"{number(one['vs_tbb']['median'])} times as long as ours on one P, and {number(two['vs_tbb']['median'])} on two. "
                 f"{newer_tbb(figures)} (`./dev bench fib`)")
        + folded("- Over all kernels, geometric means (`./dev bench --compilers both`, 20 to 30 minutes):"),
        means_table(figures),
        folded(f"- With g++, {flat_loss(figures)} (`./dev bench fib`). The table of losses is [above](#why), that of [all "
               "kernels](bench/README.md#every-kernel-beside-onetbb-and-openmp) in bench/README; in brackets is the interval of the median.")])


def best_tbb_way(data, problem, procs, is_one=is_tbb):
    times = [(r["median_ms"], key[2]) for key, r in data.results.items() if key[:2] == problem and key[3] == procs and is_one(key[2])]
    return min(times)[1] if times else None


def kernel_table(data):
    head = ["kernel (size)", "over serial, one P", "two P", "times oneTBB, one P", "two P", "oneTBB's way", "times OpenMP, one P", "two P"]
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


def goals_table(figures):
    """The goals that are missed or undecided."""
    return grid(["goal", "by", "figure", "bound", ""], [
        [g["what"], name, f"{g['value']:.4g}", f"{g['sense']} {g['bound']:.4g}", goal_verdict(g)]
        for name, data in figures.each() for g in data.report["goals"] if goal_verdict(g) != "met"])


def goals_met(data):
    goals = data.report["goals"]
    return f"{sum(g['met'] for g in goals)} of {len(goals)}"


def ceiling_told(data):
    speedup, of = mean(data, "speedup", 2), mean(data, "of_ceiling", 2)
    return f"{number(speedup['value'])}, which is {number(of['value'])} of what the machine gives to separate programs"


def kernels(figures):
    gcc, clang = compilers(figures)
    report = figures.gcc.report
    found, omp = behind(figures, deciding), behind(figures, lambda r: r.get("vs_omp"))
    parallel = len(mean(figures.gcc, "speedup", 2)["over"])
    told = "; ".join(f"{name}, {PROCS[procs]}: {counted(data, procs, deciding)}" for name, data in figures.each() for procs in PROCS)
    return "".join([
        folded(f"- **Beside oneTBB's quickest way**, rows ahead / not told apart / behind: {told}. "
               + (f"Behind: {words(found)}." if found else "None is behind.")),
        folded(f"- **Beside OpenMP's quickest way** behind: {words(omp)}." if omp else "- **Beside OpenMP's quickest way** none is behind."),
        folded(f"- **Speed-up on two P**, the geometric mean of the {parallel} kernels with enough parallelism: "
               + "; ".join(f"{name} {ceiling_told(data)}" for name, data in figures.each()) + "."),
        folded("- **The project's goals**, with bounds that are stricter than these verdicts, are met in "
               + ", ".join(f"{goals_met(data)} by {name}" for name, data in figures.each()) + "; the others are in the last table."),
        "\nGeometric means; a kernel counts once, whatever the number of its sizes, and `flat` not at all:\n\n", means_table(figures), "\n",
        folded("A figure is the median of the rounds; p: of the pairs. In brackets is the interval in which the true median lies, 94 % sure or "
               "more. \"Over serial\" is a time: less is better. \"Times oneTBB\" and \"times OpenMP\" are speeds, beside the quickest way of "
               "each; the column \"oneTBB's way\" names it, on one P / on two P if they differ. Two are told apart if the whole interval "
               f"lies on one side of 1 and the median differs by more than {CLEAR:.0%}. Empty cells: the library has no such way, or its time "
               f"would take minutes. {machine(report, gcc, clang, one_tbb(report))}."),
        "\nBy g++:\n\n", kernel_table(figures.gcc), "\nBy clang:\n\n", kernel_table(figures.clang),
        "\nGoals that are missed or undecided:\n\n", goals_table(figures)])


# --- policies ---

def policies(figures):
    data = Data(figures.files["policies"])
    compiled = [version(of.report["environment"]["compiler"]) for _, of in data.each()]
    table, counts = axes.table(data), axes.counters(data)
    heads = ["kernel", "compiler", "P", "first leave, ms", *(way for way in ("first top", "first leap", "last leave", "last top",
                                                                             "last leap", "one join")), "n"]
    deciding_lines = [folded(f"- {where}: {plain(text)}") for where, told in axes.sentences(data) for text in told]
    return "".join([*deciding_lines, "\n", folded(f"{machine(data.report, *compiled)}."), "\n",
                    grid(heads, [[plain(cell) for cell in row] for row in table.rows]), "\n",
                    folded("One run of each by g++, what strands hold and where they wait:"), "\n",
                    grid(["kernel", "order and join", "deepest deque, one P", "thefts, two P", "left their stack", "waited on top",
                          "stacks at most"], [[plain(cell) for cell in row] for row in counts.rows])])


# --- how joins wait, and what waits in memory ---

def waiting(figures):
    waits, space = Waits(figures.files["virtual"]), Space(figures.files["space"])
    settings = waits.report["settings"]
    checked = [c["median"] for c in waits.report["checked"]]
    verdict, heads, rows = waits.answer() or ("", [], [])
    return "".join([
        *([folded(verdict), "\n", grid(heads, rows), "\n"] if rows else []), *map(folded, waits.sentences(inner)), *map(folded, space.sentences()), "\n",
        folded(f"{machine(waits.report, version(waits.report['environment']['compiler']), one_tbb(waits.report))}; {settings['rounds']} rounds, "
               f"{settings['leaves']} leaves. Leaves that sleep take {min(checked):.3f} to {max(checked):.3f} "
               f"times as long as leaves that compute, on two P (medians). Memory: the median of {space.report['settings']['runs']} processes, "
               f"commit {space.report['environment']['commit'][:7]}."),
        "\n", *(f"![{plot.title}]({name.removeprefix('bench/')})\n" for name, plot in pictures_of_waits(figures)),
        "\n", grid(*waits.order_and_join()), "\n", grid(*waits.table()), "\n", *([grid(*waits.simulated_table()), "\n"] if waits.simulated else []), grid(*space.table())])


def pictures_of_waits(figures):
    """[(the file in the checkout, a plot)]"""
    plots = *Waits(figures.files["virtual"]).plots(), *Space(figures.files["space"]).plots()
    return [(f"bench/report/{plot.name}.svg", plot) for plot in plots]


# --- other libraries ---

def rows_of(report):
    """[((kernel, size), P)] in the order of the file."""
    return list(dict.fromkeys(((r["kernel"], r.get("label") or f"{r['size']:,}"), r["procs"]) for r in report["results"]))


def beside(best, kernel, procs):
    """Our time over that of the quickest other library, and its name; None if there is none."""
    others = [(peer, row["behind"]) for (k, p, peer), row in best.items() if (k, p) == (kernel, procs) and "behind" in row]
    return max(others, key=lambda other: other[1]["median"]) if others else None


def peers(figures):
    report = figures.files["peers"]
    best = best_ways(report["results"])
    names = list(dict.fromkeys(r["peer"] for r in report["results"] if r["peer"] not in (OURS, SERIAL)))
    rows, by_sign = [], {1: [], 0: [], -1: [], None: []}
    for (kernel, size), procs in rows_of(report):
        quickest = beside(best, kernel, procs)
        cells = []
        for name in (OURS, *names):
            row = best.get((kernel, procs, name))
            few = sum(ms is not None for ms in row["ms"]) if row else 0
            cells.append("" if not row or "vs_serial" not in row else number(row["vs_serial"]["median"]) + (f" (n = {few})" if few < 5 else ""))
        if quickest:
            name, summary = quickest
            side = side_of(summary)  # of our time over the other's
            by_sign[side and -side].append(f"`{kernel}` on {PROCS[procs]} ({name}, {inner(summary)})")
        rows.append([f"`{kernel}` ({size}), {procs}", *cells, f"{spread(quickest[1])}, {quickest[0]}" if quickest else ""])
    known = {peer["name"]: peer["what"] for peer in report["peers"] if peer["found"]}
    said = {1: "Ours is first, and told apart", 0: "Not told apart from the quickest other", -1: "Ours is behind",
            None: "Too few rounds to tell"}
    return "".join([
        *(folded(f"- **{said[sign]}**: {words(by_sign[sign])}.") for sign in said if by_sign[sign]), "\n",
        folded(f"{machine(report)}. In brackets is the interval of the median of our time over the other's."
               .replace("; ; ", "; ")), "\n",
        grid(["kernel (size), P", "ours", *names, "ours over the quickest other"], rows), "\n",
        *(folded(f"- {name}: {what}") for name, what in known.items())])


def league(figures):
    report = figures.files["league"]
    (procs,) = report["settings"]["procs"]
    sizes = {row["kernel"]: row["size"] for row in report["results"]}
    rows = []
    for peer, mean, own in league_of(report["results"], procs):
        few = "" if len(own) == len(sizes) else f" (of {len(own)})"
        rows.append([peer, f"{mean:.2f}{few}", *(number(own[k]["median_ms"]) if k in own else "" for k in sizes),
                     *(f"{own[k]['peak_kib'] / 1024:.1f}" if "peak_kib" in own.get(k, {}) else "" for k in sizes)])
    return "".join([
        folded(f"On {procs} P, medians of {report['settings']['rounds']} rounds; {machine(report)}.".replace("; ; ", "; ")), "\n",
        grid(["library", "mean ratio to the best", *(f"`{k}` ({size:,}), ms" for k, size in sizes.items()), *(f"`{k}`, MiB" for k in sizes)],
             rows)])


# --- Go ---

def go_version(report):
    return " ".join(report["environment"]["go"].split()[2:3]).replace("go", "Go ", 1)


def go_machine(figures, name):
    report = figures.files[name]
    return folded(f"{machine(report, version(report['environment']['compiler']), go_version(report))}.")


def build_of(programs):
    """Our program's figures: those of the build folder."""
    return next(found for name, found in programs.items() if name != "go")


def talk(figures):
    report = figures.files["talk"]
    cases = list(dict.fromkeys(r["case"] for r in report["results"]))
    rows, by_sign = [], {1: [], 0: [], -1: [], None: []}
    for case in cases:
        found = {r["procs"]: r for r in report["results"] if r["case"] == case}
        row = [f"`{case}`", found[1]["what"]]
        for procs in PROCS:
            seconds, n = found[procs]["seconds"], found[procs]["n"]
            own = build_of(seconds)
            times = Figure(map(ratio, seconds["go"], own)).summary()
            by_sign[side_of(times)].append(f"`{case}` on {PROCS[procs]} ({number(times['median'])})")
            row += [number(median(own) / n * 1e9), spread(times)]
        rows.append(row)
    said = {1: "Ours is faster, and told apart", 0: "Not told apart", -1: "Ours is behind Go", None: "Too few rounds to tell"}
    return "".join([
        *(folded(f"- **{said[sign]}**: {words(by_sign[sign])}.") for sign in said if by_sign[sign]), "\n",
        go_machine(figures, "talk"), "\n",
        grid(["case", "an operation", "ns, one P", "Go's time over ours", "ns, two P", "Go's time over ours"], rows)])


def echo(figures):
    report = figures.files["echo"]
    rows, p99 = [], {}
    for r in report["results"]:
        for name, rounds in (("ours", build_of(r["rounds"])), ("Go", r["rounds"]["go"])):
            p99[r["case"], r["procs"], name] = Figure([each["p99"] for each in rounds]).summary()
            rows.append([f"`{r['case']}`", r["procs"], name, *(spread_of([each[what] for each in rounds])
                                                              for what in ("rate", "p50", "p99", "p999"))])
    forks = [p99["forks", procs, "ours"]["median"] for procs in PROCS]
    met = "met" if max(forks) < 1000 else "missed"
    slower = [f"`{case}` on {PROCS[procs]} ({inner(p99[case, procs, 'ours'])} us, Go {inner(p99[case, procs, 'Go'])})"
              for case, procs, name in p99 if name == "ours" and p99[case, procs, "ours"]["interval"][0] > p99[case, procs, "Go"]["interval"][1]]
    return "".join([
        folded(f"- **The goal** is a p99 below 1 ms where the computation forks: {met}, {number(forks[0])} us on one P and {number(forks[1])} "
               "us on two."),
        folded("- **Behind Go in p99**, all rounds: " + (words(slower) if slower else "none") + "."), "\n",
        go_machine(figures, "echo"), "\n",
        grid(["case", "P", "", "requests a second", "p50, us", "p99, us", "p99.9, us"], rows)])


CALLS = {("sleep", "build"): ("nanosleep", "`fj::blocking`"), ("sleep_now", "build"): ("nanosleep", "`fj::blocking_now`"),
         ("sleep", "go"): ("nanosleep", "Go"), ("bare", "build"): ("nanosleep", "`bare`"), ("read", "build"): ("read", "`fj::blocking`"),
         ("read_now", "build"): ("read", "`fj::blocking_now`"), ("read", "go"): ("read", "Go")}


def handover(figures):
    found = {(r["case"], r["procs"]): r["microseconds"] for r in figures.files["handover"]["results"]}

    def of(case, who, procs):
        return found[case, procs]["go"] if who == "go" else build_of(found[case, procs])

    rows = [[call, by, *(", ".join(number(v) for v in of(case, who, procs)[what][:2]) if (case, what) != ("bare", "other") else ""
                         for what in ("other", "caller") for procs in PROCS)] for (case, who), (call, by) in CALLS.items()]
    late = [of(case, who, procs)["caller"][0] for case, who in (("sleep", "build"), ("bare", "build"), ("sleep", "go")) for procs in PROCS]
    other = [of("sleep", who, procs)["other"][0] for who in ("build", "go") for procs in PROCS]
    return "".join([
        folded("- **The caller** of nanosleep runs again after {} us (one P) and {} us (two), a thread without a runtime after {} and {} us, "
               "Go's after {} and {} us (medians).".format(*map(number, late))),
        folded("- **The second fiber** runs after {} us (one P) and {} us (two), in Go after {} and {} us.".format(*map(number, other))), "\n",
        go_machine(figures, "handover"), "\n",
        grid(["call", "", "other, one P", "two P", "caller, one P", "two P"], rows)])


# --- the guide ---

def performance(figures):
    """The table of fib."""
    def line(what, take):
        return [what, *(take(data, fib_of(data)) for _, data in figures.each())]

    def over_serial(way, procs=1):
        return lambda data, fib: spread(data.result(fib, way, procs).get("vs_serial"))

    size = fib_of(figures.gcc)
    rows = [line("serial", lambda data, fib: f"{number(data.result(fib, 'serial', 1)['median_ms'])} ms"),
            line("continuations, one P, over serial", over_serial("continuations")),
            line("tasks (`fj::tasks`), one P, over serial", over_serial("tasks")),
            line("`fj::scope`, one P, over serial", over_serial("scope")),
            line("`tbb::parallel_invoke`, one P, over serial", over_serial("tbb_invoke")),
            line("the same with one `task_group_context` for all forks", over_serial("tbb_context")),
            line("speed-up of continuations on two P", lambda data, fib: spread(data.result(fib, "continuations", 2)["speedup"])),
            *(line(f"times the speed of oneTBB's quickest way, {PROCS[procs]}",
                   lambda data, fib, procs=procs: spread(data.result(fib, "continuations", procs)["vs_tbb"])) for procs in PROCS),
            ["instructions of overhead a fork", *forked_over_plain(figures)]]
    forks = figures.gcc.result(size, "continuations", 1)["forks"]
    report = figures.gcc.report
    return "".join([
        means_table(figures), "\n", folded(f"{behind_tbb(figures)} By g++, {flat_loss(figures)}."), "\n",
        folded(f"Recursive `fib({size[1]})` that forks at every call with n > 1, {forks:,} forks. Medians of the rounds, and in brackets the "
               f"interval in which the true median lies. {machine(report, *compilers(figures), one_tbb(report))}. A difference on one P "
               "is one of code: nothing is stolen there."),
        "\n", grid(["", *compilers(figures)], rows)])


BLOCKS = {of.__name__: of for of in (losses, readme, kernels, policies, waiting, league, peers, talk, echo, handover, performance)}


def told(page, figures):
    """The page's text with its figures."""
    def block(found):
        begin, name, end = found.groups()
        return begin + "\n" + BLOCKS[name](figures) + "\n" + end

    return BLOCK.sub(block, page)


def write_pages(root, figures):
    """Returns the names of the pages that have changed."""
    changed = []
    for name in PAGES:
        file = pathlib.Path(root) / name
        old = file.read_text()
        if (new := told(old, figures)) != old:
            file.write_text(new)
            changed.append(name)
    return changed
