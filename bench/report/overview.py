"""The first page of the report: what was measured, where, and how to read it."""

from html import escape

from report.markup import mib, page, plots, section, spread, table, value

ENVIRONMENT = {"date": "date", "commit": "commit", "cpu": "CPU", "cores": "processors", "governor": "governor",
               "kernel": "kernel",
               "hypervisor": "virtual machine", "load_average": "load average", "compiler": "compiler",
               "flags": "flags",
               "assertions": "assertions", "oneTBB": "oneTBB", "OpenMP": "OpenMP", "others_before": "others before",
               "others_during": "others during it"}


def shown(name, found):
    if name.startswith("others_"):
        return f"{value(found[0])} processors kept busy by other programs, {value(found[1])} withheld by the hypervisor"
    if isinstance(found, list):
        return " ".join(value(v) for v in found)
    if isinstance(found, bool):
        return "yes" if found else "no"
    return value(found) if isinstance(found, (int, float)) else escape(str(found))


def environment(data):
    env, settings = data.report.get("environment", {}), data.report.get("settings", {})
    rows = [[text, shown(name, env[name])] for name, text in ENVIRONMENT.items() if env.get(name) is not None]
    if settings:
        rows.append(["measured",
                     f"sizes: {escape(str(settings.get('sizes', '?')))}; P = "
                     f"{', '.join(map(str, settings.get('procs', [])))}; at most {settings.get('rounds', '?')} rounds; "
                     f"{settings.get('seconds', 0):.0f} s in all"])
    warnings = data.report.get("warnings", [])
    listed = "".join(f"<li>{escape(w)}</li>" for w in warnings)
    said = f'<div class="warnings"><p><b>To be taken with care:</b></p><ul>{listed}</ul></div>' if warnings else \
        "<p>No warnings: nothing else was seen to use the machine.</p>"
    body = "".join(f'<tr><th scope="row">{name}</th><td class="long">{text}</td></tr>' for name, text in rows)
    caption = "Environment"
    return section("environment", caption, said,
                   f'<div class="scroll"><table><caption>{caption}</caption><tbody>{body}</tbody>'
                   "</table></div>" if rows else "<p>Unknown.</p>")


def goals(data):
    rows = []
    for g in data.report.get("goals", []):
        verdict = '<span class="met">met</span>' if g["met"] else '<span class="missed">missed</span>'
        sure = ", by pairs between {:.3f} and {:.3f}".format(*g["interval"]) if "interval" in g else ""
        rows.append([escape(g["what"] + sure), value(g["value"]), value(g.get("best")),
                     f'{g["sense"]} {value(g["bound"], format(g["bound"], ".4g"))}',
                     verdict, value(g.get("always")), value(g.get("ceiling")), value(g.get("of_ceiling"))])
    means = [[escape(m["what"]), value(m["procs"]), value(m["value"]), value(len(m["over"]))]
             for m in data.report.get("means", [])]
    if not rows and not means:
        return section("goals", "Goals and means", "<p>The figures judge no goals.</p>")
    return section("goals", "Goals and means",
                   table("Goals", ["goal", "median", "of best times", "bound", "", "always", "machine's ceiling", "of ceiling"],
                         rows),
                   table("Geometric means, continuations", ["what", "P", "mean", "kernels"], means))


def results(data):
    rows = []
    for (kernel, size, way, procs), r in data.results.items():
        once = r.get("once", {})
        rows.append([data.full_name((kernel, size)), escape(way), value(procs), value(r.get("median_ms")),
                     value(r.get("best_ms")),
                     *(spread(r.get(name))
                       for name in ("vs_serial", "vs_tbb", "vs_tbb_group", "vs_omp", "speedup", "quiet_speedup",
                                    "ns_per_fork", "steals")),
                     mib(data.peak((kernel, size), way, procs)), mib(data.bound((kernel, size), way, procs)),
                     value(once.get("seconds"))])
    heads = ["kernel", "way", "P", "median, ms", "best, ms", "over serial", "times oneTBB's speed", "times tbb_group's",
             "times OpenMP's",
             "speed-up", "when quiet", "ns a fork", "steals", "peak, MiB", "bound, MiB", "single run, s"]
    return section("results", "All figures", "<details><summary>One row for each kernel, way and P</summary>",
                   table("Medians of the rounds (least…most)", heads, rows, left=2), "</details>")


def ceilings(data):
    rows = []
    for (kernel, size, procs), c in data.ceilings.items():
        rows.append([data.full_name((kernel, size)), value(procs), spread(c["ceiling"]),
                     *(spread(c.get("of_ceiling", {}).get(way)) for way in data.ways())])
    return table("The machine's ceiling, and what part of it each way reaches",
                 ["kernel", "P", "ceiling", *map(escape, data.ways())], rows)


def shapes(data):
    rows = []
    for problem in data.problems:
        s = data.shape(problem)
        if s:
            microseconds = [None if s.get(name) is None else s[name] / 1e3 for name in ("work_ns", "span_ns")]
            rows.append([data.full_name(problem),
                         *(value(v, f"{v:,.4g}" if v < 1e4 else f"{v:,.0f}") if v is not None else "–"
                           for v in microseconds),
                         value(s.get("work")), value(s.get("span")), "–" if s.get("parallelism") is None
                         else value(s["parallelism"], f'{s["parallelism"]:,.0f}'),
                         value(s.get("forks")), value(s.get("depth"))])
    return table("Work, span and parallelism",
                 ["kernel", "work, µs", "span, µs", "work, steps", "span, steps", "parallelism", "forks",
                                                "calls on the longest path"], rows)


def simulation(data, made):
    if not data.simulated:
        return section("simulated", "Simulated: up to 4,096 processors",
                       "<p>Nothing was simulated: there was nothing to simulate, it was not asked for, or the simulator "
                       "was not built (it needs the packages libcli11-dev and nlohmann-json3-dev) or failed; "
                       "<code>./dev report</code> said which.</p>",
                       shapes(data))
    rows = []
    for problem, run in data.simulated.items():
        for r in run["runs"]:
            real = data.result(problem, r["policy"], r["procs"])
            if r["procs"] > 1 and "speedup" in real:
                rows.append([data.full_name(problem), r["policy"], value(r["procs"]), spread(real["speedup"]),
                             value(r["speedup"]),
                             value(data.counter(problem, r["policy"], r["procs"], "steals")), value(r["steals"])])
    costs = next(iter(data.simulated.values())).get("costs", {})
    listed = [[escape(name), value(cost, f"{cost:,g}")] for name, cost in costs.items()
              if name not in ("fork", "fork_tasks")]
    return section("simulated", "Simulated: up to 4,096 processors",
                   "<p>A simulation runs each kernel's forks with the library's own deque and rules of stealing. The "
                   "work is scaled to the measured serial time, a fork costs what it was measured to cost on one P. It "
                   "knows nothing of caches and memory bandwidth, so its curves say what the schedule allows, not what "
                   "a machine reaches. The job starts with all workers but one asleep: where it takes a few "
                   "milliseconds at most, the curve bends because waking them takes as long.</p>",
                   shapes(data), plots(made["simulated"]),
                   table("Beside what was measured",
                         ["kernel", "way", "P", "speed-up, measured", "simulated", "steals, measured", "simulated"],
                         rows, left=2),
                   "<details><summary>Costs that it assumes</summary>",
                   table("Nanoseconds, or bytes where the name says so", ["cost", "value"], listed),
                   "</details>")


READ = """<p>Every result was checked; a wrong one ends the measurement. A round runs each way once, close together in
time; ratios are taken within a round, and what is shown is their median with the smallest and the largest.</p><ul>
<li>Over serial: time over the serial program's, which is the same algorithm without forks. 1 is as fast, 2 twice as
slow.</li>
<li>Times oneTBB's speed: oneTBB's time on as many P over this one's. Above 1 is faster than oneTBB.</li>
<li>Speed-up: time on one P over time on more. The machine's ceiling is what as many separate programs reach at the
same time: two processors of a virtual machine are often two halves of one core, and then no library doubles the
speed. When quiet: the speed-up in moments when these programs reached all there is and the clock was steady; goals
for speed-ups are judged by it, and beside it stands what it was always.</li>
<li>Peak resident memory is that of a process that does this one run and nothing else. The bound: what the process had
before the run, plus P times (what came during a run on one P, plus 64 KiB), plus 64 KiB for each stack beyond P. It
is promised for continuations and scopes.</li>
<li>Steals, suspensions, join waits: in one run. Stacks at most: fibers that run or wait, and a spare one per
worker.</li>
<li>Work: the time of all steps together. Span: the time of the longest chain of steps that must follow each other.
Parallelism: work over span, the speed-up that no number of processors exceeds.</li>
<li>In pictures the mark is the median, the thin line goes from the smallest to the largest; point at a mark to read
its value. The same figures stand in the tables.</li></ul>"""


def overview_page(data, made, links):
    ours = [("environment", "Environment"), ("goals", "Goals"), ("serial", "Against serial"), ("tbb", "Against oneTBB"),
            ("speedup", "Speed-up"),
            ("memory", "Memory"), ("simulated", "Simulated"), ("results", "All figures"), ("reading", "How to read")]
    env = data.report.get("environment", {})
    intro = ", ".join(escape(str(env[k])) for k in ("cpu", "compiler", "commit") if env.get(k))
    nothing = "<p>Not measured.</p>"
    return page("forkjoin: benchmarks", [*links, *((f"#{name}", text) for name, text in ours)], f"<p>{intro}.</p>"
                if intro else "",
                environment(data), goals(data),
                section("serial", "Time over the serial program's", plots(made["serial"]) or nothing),
                section("tbb", "Against oneTBB", plots(made["tbb"])
                        or "<p>oneTBB was not there to be compared with.</p>"),
                section("speedup", "Speed-up", plots(made["speedup"])
                        or ("<p>Only one P was measured.</p>" if data.procs else nothing),
                        ceilings(data)),
                section("memory", "Peak resident memory", plots(made["memory"]) or nothing),
                simulation(data, made), results(data), section("reading", "How to read it", READ))
