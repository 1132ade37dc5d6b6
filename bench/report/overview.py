"""The tables of the report's first page: what was measured, on which machine, with which results."""

from markupsafe import Markup

from report.pages import NONE, Table, mib, render, spread, value

ENVIRONMENT = {"date": "date", "commit": "commit", "cpu": "CPU", "cores": "processors", "governor": "governor",
               "kernel": "kernel", "hypervisor": "virtual machine", "load_average": "load average", "compiler": "compiler",
               "flags": "flags", "assertions": "assertions", "oneTBB": "oneTBB", "OpenMP": "OpenMP",
               "others_before": "others before", "others_during": "others during it"}

VERDICT = Markup('<span class="{0}">{0}</span>')


def shown(name, found):
    if name.startswith("others_"):
        return value(found[0]) + " processors kept busy by other programs, " + value(found[1]) + " withheld by the hypervisor"
    if isinstance(found, list):
        return Markup(" ").join(value(v) for v in found)
    if isinstance(found, bool):
        return "yes" if found else "no"
    return value(found) if isinstance(found, (int, float)) else str(found)


def environment(data):
    env, settings = data.report.get("environment", {}), data.report.get("settings", {})
    rows = [[text, shown(name, env[name])] for name, text in ENVIRONMENT.items() if env.get(name) is not None]
    if settings:
        rows.append(["measured", f"sizes: {settings.get('sizes', '?')}; P = {', '.join(map(str, settings.get('procs', [])))}; "
                     f"at most {settings.get('rounds', '?')} rounds; {settings.get('seconds', 0):.0f} s in all"])
    return rows


def goals(data):
    rows = []
    for g in data.report.get("goals", []):
        sure = ", by pairs between {:.3f} and {:.3f}".format(*g["interval"]) if "interval" in g else ""
        rows.append([g["what"] + sure, value(g["value"]), value(g.get("best")),
                     g["sense"] + " " + value(g["bound"], format(g["bound"], ".4g")), VERDICT.format("met" if g["met"] else "missed"),
                     value(g.get("always")), value(g.get("ceiling")), value(g.get("of_ceiling"))])
    return Table("Goals", ["goal", "median", "of best times", "bound", "", "always", "machine's ceiling", "of ceiling"], rows)


def means(data):
    return Table("Geometric means, continuations", ["what", "P", "mean", "kernels"],
                 [[m["what"], value(m["procs"]), value(m["value"]), value(len(m["over"]))]
                  for m in data.report.get("means", [])])


def results(data):
    heads = ["kernel", "way", "P", "median, ms", "best, ms", "over serial", "times oneTBB's speed", "times tbb_group's",
             "times OpenMP's", "speed-up", "when quiet", "ns a fork", "steals", "peak, MiB", "bound, MiB", "single run, s"]
    spreads = ("vs_serial", "vs_tbb", "vs_tbb_group", "vs_omp", "speedup", "quiet_speedup", "ns_per_fork", "steals")
    rows = []
    for (kernel, size, way, procs), r in data.results.items():
        of = (kernel, size), way, procs
        rows.append([data.full_name((kernel, size)), way, value(procs), value(r.get("median_ms")), value(r.get("best_ms")),
                     *(spread(r.get(name)) for name in spreads), mib(data.peak(*of)), mib(data.bound(*of)),
                     value(r.get("once", {}).get("seconds"))])
    return Table("Medians of the rounds (least…most)", heads, rows, left=2)


def ceilings(data):
    return Table("The machine's ceiling, and what part of it each way reaches", ["kernel", "P", "ceiling", *data.ways()],
                 [[data.full_name((kernel, size)), value(procs), spread(c["ceiling"]),
                   *(spread(c.get("of_ceiling", {}).get(way)) for way in data.ways())]
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
            if r["procs"] > 1 and "speedup" in real:
                rows.append([data.full_name(problem), r["policy"], value(r["procs"]), spread(real["speedup"]),
                             value(r["speedup"]), value(data.counter(problem, r["policy"], r["procs"], "steals")),
                             value(r["steals"])])
    return Table("Beside what was measured", ["kernel", "way", "P", "speed-up, measured", "simulated", "steals, measured",
                                              "simulated"], rows, left=2)


def costs(data):
    found = next(iter(data.simulated.values()), {}).get("costs", {})
    return Table("Nanoseconds, or bytes where the name says so", ["cost", "value"],
                 [[name, value(cost, f"{cost:,g}")] for name, cost in found.items() if name not in ("fork", "fork_tasks")])


def overview_page(data, made, links):
    env = data.report.get("environment", {})
    tables = {of.__name__: of(data) for of in (goals, means, results, ceilings, shapes, beside, costs)}
    return render("overview.html", data=data, made=made, pages=links, environment=environment(data), **tables,
                  about=[str(env[k]) for k in ("cpu", "compiler", "commit") if env.get(k)],
                  warnings=data.report.get("warnings", []))
