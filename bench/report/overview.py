"""The tables of the report's first page: what was measured, on which machine, with which results."""

from markupsafe import Markup

from harness.figures import ENOUGH
from harness.tables import few_told, verdict
from report.answer import answer
from report.data import OURS
from report.pages import NONE, Table, mib, render, spread, value

ENVIRONMENT = {"date": "date", "commit": "commit", "cpu": "CPU", "cores": "processors", "governor": "governor",
               "kernel": "kernel", "hypervisor": "virtual machine", "load_average": "load average", "compiler": "compiler",
               "flags": "flags", "assertions": "assertions", "oneTBB": "oneTBB", "OpenMP": "OpenMP",
               "others_before": "others before", "others_during": "others during it"}

def shown(name, found):
    if name.startswith("others_"):
        return value(found[0]) + " processors kept busy by other programs, " + value(found[1]) + " withheld by the hypervisor"
    if isinstance(found, list):
        return Markup(" ").join(value(v) for v in found)
    if isinstance(found, bool):
        return "yes" if found else "no"
    return value(found) if isinstance(found, (int, float)) else str(found)


def environment(data):
    """[(name, text)] for each compiler; what two of them share stands with the first alone."""
    rows = []
    for _, of in data.each():
        env, settings = of.report.get("environment", {}), of.report.get("settings", {})
        own = [[text, shown(name, env[name])] for name, text in ENVIRONMENT.items() if env.get(name) is not None]
        if settings:
            own.append(["measured", f"sizes: {settings.get('sizes', '?')}; P = {', '.join(map(str, settings.get('procs', [])))}; "
                        f"at most {settings.get('rounds', '?')} rounds; {settings.get('seconds', 0):.0f} s in all"])
        rows += [row for row in own if row not in rows]
    return rows


def goals(data):
    rows = []
    for compiler, of in data.each():
        for g in of.report.get("goals", []):
            few = f"n = {g['rounds']}" if g.get("rounds", ENOUGH) < ENOUGH else few_told(g.get("few", {}))
            interval = "{:.3f} to {:.3f} ({})".format(*g["interval"], int(100 * g["certainty"])) if "interval" in g else NONE
            rows.append([g["what"], compiler or NONE, value(g["value"]),
                         g["sense"] + " " + value(g["bound"], format(g["bound"], ".4g")),
                         Markup('<span class="{0}">{0}</span>').format(verdict(g)), value(g.get("median")), interval,
                         few or NONE,
                         value(g.get("best")), value(g.get("always")),
                         value(g["of_ceiling"], "{:.2f} of {:.2f}".format(g["of_ceiling"], g["ceiling"])) if "ceiling" in g else NONE])
    return Table("Goals", ["goal", "compiler", "figure", "bound", "verdict", "median", "its interval (certainty, %)", "few rounds",
                           "of best times", "always", "of the machine's ceiling"], rows)


def means(data):
    return Table("Geometric means, continuations", ["what", "compiler", "P", "mean", "kernels", "few rounds"],
                 [[m["what"], compiler or NONE, value(m["procs"]), value(m["value"]), value(len(m["over"])),
                   few_told(m.get("few", {})) or NONE] for compiler, of in data.each() for m in of.report.get("means", [])])


def results(data):
    heads = ["kernel", "way", "P", "compiler", "median, ms", "best, ms", "n", "over serial", "over the best serial",
             "times oneTBB's speed", "times tbb_invoke's", "times tbb_group's", "times tbb_context's", "times OpenMP's", "speed-up", "when quiet",
             "ns a fork", "steals", "memory that came, MiB", "bound, MiB", "single run, s"]
    spreads = ("vs_serial", "vs_best_serial", "vs_tbb", "vs_tbb_invoke", "vs_tbb_group", "vs_tbb_context", "vs_omp", "speedup", "quiet_speedup",
               "ns_per_fork", "steals")
    rows = []
    for compiler, one in data.each():
        for (kernel, size, way, procs), r in one.results.items():
            of = (kernel, size), way, procs
            rows.append([one.full_name((kernel, size)), way, value(procs), compiler or NONE, value(r.get("median_ms")),
                         value(r.get("best_ms")), value(sum(t is not None for t in r.get("ms", []))),
                         *(spread(r.get(name)) for name in spreads), mib(one.growth(*of)), mib(one.bound(*of)),
                         value(r.get("once", {}).get("seconds"))])
    return Table("Medians of the rounds (least…most)", heads, rows, left=2)


def went(data):
    """Where the time of the P went: the time of a run on P processors is P times as long as the run."""
    rows = []
    for compiler, of in data.each():
        for problem in of.problems:
            serial = of.once(problem, "serial", 1).get("seconds")
            for way in OURS:
                for procs in of.procs:
                    if not (parts := of.went(problem, way, procs)):
                        continue
                    work, looking, idle = (sum(part) / procs for part in zip(*parts))
                    own = None if serial is None else min(serial / (procs * of.once(problem, way, procs)["seconds"]), work)
                    each = "; ".join("/".join(f"{100 * part:.0f}" for part in p) for p in parts) if procs <= 8 else NONE
                    rows.append([of.full_name(problem), way, value(procs), compiler or NONE, NONE if own is None else value(100 * own),
                                 NONE if own is None else value(100 * (work - own)), value(100 * looking), value(100 * idle), each])
    return Table("Per cent of the time of all Ps, in one run", ["kernel", "way", "P", "compiler", "the serial program's work",
                 "more work", "looking for work", "idle", "each P: work/looking/idle"], rows, left=2)


def misses(data):
    serial = {(m["kernel"], m["size"]): m for m in data.misses if m["way"] == "serial"}
    rows = []
    for m in data.misses:
        base = serial.get((m["kernel"], m["size"]), {})
        over = [value(m[name] / base[name]) if base.get(name) else NONE for name in ("d1", "ll")]
        rows.append([f"{m['kernel']} ({m['size']:,})", m["way"], value(m["instructions"]), value(m["d1"]), value(m["ll"]), *over])
    return Table("Of one run on one P, by cachegrind", ["kernel", "way", "instructions", "misses in D1", "misses in LL",
                                                        "D1 over serial", "LL over serial"], rows, left=2)


def ceilings(data):
    ways = [way for way in data.ways() if way in (*OURS, "tbb", "omp")]  # more would be wider than the page
    return Table("The machine's ceiling, and what part of it each way reaches", ["kernel", "P", "ceiling", *ways],
                 [[data.full_name((kernel, size)), value(procs), spread(c["ceiling"]),
                   *(spread(c.get("of_ceiling", {}).get(way)) for way in ways)]
                  for (kernel, size, procs), c in data.ceilings.items()])


def shapes(data):
    rows = []
    for problem in data.problems:
        if s := data.shape(problem):
            microseconds = [None if s.get(name) is None else s[name] / 1e3 for name in ("work_ns", "span_ns")]
            parallelism = s.get("parallelism")
            rows.append([data.full_name(problem),
                         *(NONE if v is None else value(v, f"{v:,.4g}" if v < 1e4 else f"{v:,.0f}") for v in microseconds),
                         value(s.get("work")), value(s.get("span")),
                         NONE if parallelism is None else value(parallelism, f"{parallelism:,.0f}"),
                         value(s.get("forks")), value(s.get("depth"))])
    return Table("Work, span and parallelism", ["kernel", "work, µs", "span, µs", "work, steps", "span, steps", "parallelism",
                                                "forks", "calls on the longest path"], rows)


def beside(data):
    """Simulated figures beside measured ones."""
    rows = []
    for problem, run in data.simulated.items():
        for r in run["runs"]:
            real = data.result(problem, r["policy"], r["procs"])
            if r["procs"] > 1 and "vs_serial" in real and not r.get("awake"):
                rows.append([data.full_name(problem), r["policy"], value(r["procs"]), value(1 / real["vs_serial"]["median"]),
                             value(r["speedup"]), value(data.counter(problem, r["policy"], r["procs"], "steals")),
                             value(r["steals"])])
    return Table("Beside what was measured", ["kernel", "way", "P", "speed-up over serial, measured", "speed-up over serial, simulated",
                                              "steals, measured", "steals, simulated"], rows, left=2)


def costs(data):
    found = next(iter(data.simulated.values()), {}).get("costs", {})
    return Table("Nanoseconds, or bytes where the name says so", ["cost", "value"],
                 [[name, value(cost, f"{cost:,g}")] for name, cost in found.items() if name not in ("fork", "fork_tasks")])


def overview_page(data, made, links):
    env = data.report.get("environment", {})
    tables = {of.__name__: of(data) for of in (goals, means, results, ceilings, shapes, beside, costs, went,
                                                   misses)}
    return render("overview.html", data=data, made=made, pages=links, environment=environment(data), **tables,
                  costs_measured=next(iter(data.simulated.values()), {}).get("costs_measured", False),
                  about=[text for text in (env.get("cpu"), env.get("commit") and f"commit {env['commit']}") if text]
                  + [str(c) for _, of in data.each() if (c := of.report.get("environment", {}).get("compiler"))], answer=answer(data),
                  warnings=[f"{compiler}: {w}" if compiler else w for compiler, of in data.each()
                            for w in of.report.get("warnings", [])])
