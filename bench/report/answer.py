"""The lines at the top of the report: what the figures say, by fixed rules."""

from markupsafe import Markup

from harness.tables import few_told, short, verdict
from report.pages import value, words


def joined(parts):
    return Markup("; ").join(parts)


def by_compiler(data, tell):
    """What `tell` says of each compiler's figures, the compiler before it if there are several."""
    told = [(compiler, text) for compiler, of in data.each() if (text := tell(of))]
    return joined(Markup("{}: {}").format(compiler, text) if compiler else text for compiler, text in told)


def means(data, name):
    return [m for m in data.report.get("means", []) if m["name"] == name]


def ps(number):
    return f"{number} P" if number == 1 else f"{number} Ps"


def mean_told(mean):
    few = few_told(mean.get("few", {}))
    return Markup("{} on {}").format(value(mean["value"]), ps(mean["procs"])) + (f" ({few})" if few else "")


def overhead(data):
    """Continuations on one P over the serial program, and the kernel where that is largest."""
    taken = [m for m in means(data, "vs_serial") if m["procs"] == 1]
    found = [(s["median"], problem) for problem, figures in data.figures("vs_serial", 1)
             if (s := figures.get("continuations")) and not data.kernels.get(problem[0], {}).get("over_loops")]
    if not taken or not found:
        return None
    most, problem = max(found)
    return mean_told(taken[0]) + Markup(", most in {} ({})").format(data.name(problem), value(most))


def beside_tbb(data):
    """The mean over all kernels, that over those without a cut-off, and the kernel whose median is least."""
    told = []
    for name, of in (("times_tbb", "over all kernels ({})"), ("times_tbb_no_cut_off", "over those without a cut-off ({})")):
        if taken := means(data, name):
            told.append(Markup("{} {}").format(words([mean_told(m) for m in taken]), of.format(max(len(m["over"]) for m in taken))))
    found = [(s["median"], problem, p) for p in data.procs for problem, figures in data.figures("vs_tbb", p)
             if (s := figures.get("continuations"))]
    if not told or not found:
        return None
    median, problem, p = min(found)
    return Markup(", ").join([*told, Markup("the least median in {} on {} ({})").format(data.name(problem), ps(p), value(median))])


def faster(data):
    taken = [m for m in means(data, "speedup") if m["procs"] == data.most]
    ceilings = [c["ceiling"]["median"] for (_, _, p), c in data.ceilings.items() if p == data.most]
    if not taken:
        return None
    limit = f"; the machine itself gives {short(min(ceilings))} to {short(max(ceilings))}" if ceilings else ""
    return mean_told(taken[0]) + limit


def policies(data):
    told = []
    for p in data.procs:
        verdicts = [v for problem in data.problems if (v := data.faster(problem, p))]
        if verdicts:
            told.append(f"on {ps(p)} continuations are faster in {verdicts.count('continuations')} of {len(verdicts)}, tasks in "
                        f"{verdicts.count('tasks')}")
    return ", ".join(told)


def goals_met(data):
    goals = data.report.get("goals", [])
    count = {v: sum(verdict(g) == v for g in goals) for v in ("met", "missed", "undecided")}
    told = f"{count['met']} of {len(goals)} met"
    for v in ("missed", "undecided"):
        told += f", {count[v]} {v}" if count[v] else ""
    return told if goals else None


LINES = [("Cost of forking", "time of continuations on one P over the serial program, geometric mean of the kernels that fork", overhead),
         ("Against oneTBB", "how many times as fast as the fastest of its variants: geometric means, and the least median of all kernels", beside_tbb),
         ("Speed-up", "over one P, geometric mean of the kernels with enough parallelism", faster),
         ("Tasks or continuations", "problems with a clear difference, which may be one of order alone", policies),
         ("Goals", "of the project", goals_met)]


def answer(data):
    """[(heading, what the figures are, text)], without lines that have no figures."""
    return [(head, about, text) for head, about, tell in LINES if (text := by_compiler(data, tell))]
