"""The picture in README: fib on one P and on two, beside the serial program and oneTBB."""

import math

from matplotlib import ticker

from harness.tables import told_times

from report import draw

WIDTH, LABELS, RIGHT, TOP = 720, 184, 704, 48
ROW, LANES = 38, {1: (19,), 2: (12, 28)}  # a row's height, and the places of its marks
CALLED = {"serial": "without forks", "continuations": "fj::fork_join", "tasks": "fj::fork_join<fj::tasks>",
          "scope": "fj::scope", "tbb_context": "parallel_invoke, one context", "tbb_group": "tbb::task_group",
          "tbb_invoke": "tbb::parallel_invoke"}
PROCS = (1, 2)


def taken(result):
    return [t for t in result["ms"] if t is not None]


def caption(data, size, results):
    env = {name: value for name, value in data.report.get("environment", {}).items() if value is not None}
    rounds = sorted({len(taken(r)) for r in results})
    return (f"n = {size}. Milliseconds of one run, on a logarithmic axis. Mark: the median of {' to '.join(map(str, sorted({rounds[0], rounds[-1]})))} "
            f"rounds; line: from the fastest to the slowest. Measured {env.get('date', 'at an unknown date')} at commit "
            f"{env.get('commit', 'unknown')}. Compiler: {env.get('compiler', 'unknown')}, {env.get('flags', 'flags unknown')}. "
            f"oneTBB: {env.get('oneTBB', 'unknown')}. CPU: {env.get('cpu', 'unknown')}, {env.get('cores', '?')} processors.")


def mark(procs, colour):
    return {"s": 46, "facecolor": colour if procs > 1 else draw.PAPER[0], "edgecolor": colour, "linewidths": 1.5, "zorder": 3}


def beside(data, problem, way, procs):
    """The time and, for the serial program and oneTBB's ways, the median of the rounds' ratios."""
    time = data.result(problem, way, procs)["median_ms"]
    ratio = data.result(problem, "continuations", procs).get(f"vs_{way}")
    text = f"{time:,.0f} ms" if time >= 100 else f"{time:.3g} ms"
    if not ratio:
        return text
    # The one is fj::fork_join's time over the other's, all others are the other's over fj::fork_join's: bench/schema.md.
    return f"{text}, {told_times(1 / ratio['median'] if way == 'serial' else ratio['median'], 'fj::fork_join')}"


def fib(data):
    """A plot; None if fib was not measured."""
    problem = next((p for p in data.problems if p[0] == "fib"), None)
    found = {(way, procs): r for way in CALLED for procs in PROCS if problem and (r := data.result(problem, way, procs))}
    if not found:
        return None
    ways = [way for way in CALLED if any((way, procs) in found for procs in PROCS)]
    forks = next((f": {r['forks']:,} forks around almost no work" for r in found.values() if "forks" in r), "")
    bottom = TOP + ROW * len(ways)
    plot = draw.Plot("fib", f"Recursive fib({problem[1]}){forks}", caption(data, problem[1], found.values()), bottom + 36, WIDTH)
    axes = plot.axes(LABELS, RIGHT, TOP, bottom)
    draw.scale(axes.xaxis, "log", [t for r in found.values() for t in taken(r)])
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5), numticks=12))
    axes.set_ylim(bottom, TOP)  # pixels
    axes.set_yticks([])
    plot.figure.legend([axes.scatter([], [], **mark(procs, draw.FAINT[0])) for procs in PROCS], ["on one P", "on two Ps"],
                       loc="upper right", bbox_to_anchor=(RIGHT / WIDTH, 1 - 4 / plot.height), ncol=2, frameon=False, borderpad=0,
                       borderaxespad=0, handletextpad=0.2, columnspacing=1)
    plot.text((LABELS + RIGHT) / 2, bottom + 30, "milliseconds of one run, logarithmic; less is better", color=draw.FAINT[0],
              ha="center")
    middle = math.prod(axes.get_xlim()) ** 0.5
    for i, way in enumerate(ways):
        y, colour = TOP + i * ROW, draw.colour("tbb" if way in ("tbb_invoke", "tbb_context") else way)
        plot.text(LABELS - 8, y + ROW / 2 + 4, CALLED[way], ha="right")
        if i > 0:
            axes.axhline(y, xmin=-1, color=draw.GRID[0], linewidth=1, clip_on=False)
        shown = [procs for procs in PROCS if (way, procs) in found]
        for lane, procs in zip(LANES[len(shown)], shown):
            times, at = taken(found[way, procs]), y + lane
            axes.hlines(at, min(times), max(times), color=colour, linewidth=1.5, alpha=0.55)
            axes.scatter([found[way, procs]["median_ms"]], [at], **mark(procs, colour))
            right = max(times) > middle  # the text then stands to the left
            axes.annotate(beside(data, problem, way, procs), (min(times) if right else max(times), at), (-9 if right else 9, -4),
                          textcoords="offset points", ha="right" if right else "left")
    return plot
