"""Plots as SVG, drawn by hand: rows of dots, and curves. All are 360 wide, so that they stand side by side on a wide
screen and still can be read on a narrow one. Colours follow the reader's scheme; ways differ by shape, too."""

import math
from html import escape

from harness.tables import short

WIDTH = 360
LABELS = 116  # what the names of rows may take
RIGHT = 19
SIZE = 11  # of letters
LANE = 9  # a way's share of a row

# Okabe and Ito's palette, and what of it can be told apart on black.
COLOURS = {"serial": ("#5f6670", "#a9b1bc"), "continuations": ("#0072b2", "#56b4e9"), "tasks": ("#d55e00", "#e69f00"),
           "scope": ("#007e5c", "#2fc79b"), "tbb": ("#a8447f", "#ec9cc6"),
           "tbb_group": ("#6d3a8c", "#c9a5e4"), "omp": ("#8a6d00", "#f0e442"), "other": ("#222222", "#eeeeee")}
SHAPES = {"serial": "bar", "continuations": "circle", "tasks": "square", "scope": "diamond", "tbb": "triangle",
          "tbb_group": "down", "omp": "cross", "other": "circle"}


def style():
    """For a page, or for one plot in a file of its own."""
    schemes = [("#1b1f24", "#5c636d", "#dfe3e8", "#ffffff"), ("#e6e8eb", "#a4abb5", "#3a4049", "#16181c")]

    def variables(i):
        ink, faint, grid, paper = schemes[i]
        ways = "".join(f"--{way}:{colours[i]};" for way, colours in COLOURS.items())
        return f"--ink:{ink};--faint:{faint};--grid:{grid};--paper:{paper};{ways}"

    return (f"svg.plot{{{variables(0)}font:{SIZE}px system-ui,sans-serif}}"
            f"@media(prefers-color-scheme:dark){{svg.plot{{{variables(1)}}}}}"
            "svg.plot text{fill:var(--ink)}svg.plot text.faint{fill:var(--faint)}"
            "svg.plot text.title{font-weight:600;font-size:12px}"
            "svg.plot .grid{stroke:var(--grid);fill:none}svg.plot .reference{stroke:var(--ink);stroke-dasharray:4 "
            "3;fill:none}"
            "svg.plot .limit{stroke:var(--ink);stroke-width:2}svg.plot .band{fill:var(--grid);opacity:.35}"
            "svg.plot .paper{fill:var(--paper)}"
            + "".join(f"svg.plot .{way}{{stroke:var(--{way});fill:var(--{way})}}" for way in COLOURS)
            + "svg.plot .spread{stroke-width:1.5;opacity:.55}svg.plot polyline{stroke-width:2;fill:none!important}")


def kind(way):
    return way if way in COLOURS else "other"


class Scale:
    """From values to a piece of a line: `log`, `linear` from 0, or `zero`, a logarithm that 0 has a place on."""

    def __init__(self, how, values, begin, end):
        self.how, self.begin, self.end = how, begin, end
        values = [v for v in values if how != "log" or v > 0]
        low, high = (min(values), max(values)) if values else (1, 10)
        if how == "log":
            low, high = low / 1.15, max(high * 1.15, low * 2)
        elif how == "linear":
            low, high = 0, high * 1.08 or 1
        else:
            low, high = 0, max(high * 1.3, 3)
        self.low, self.high = low, high

    def turned(self, value):
        return math.log(value) if self.how == "log" else math.log1p(value) if self.how == "zero" else value

    def __call__(self, value):
        low, high = self.turned(self.low), self.turned(self.high)
        return self.begin + (self.end - self.begin) * (self.turned(max(value, self.low)) - low) / (high - low)

    @staticmethod
    def step(length, most):
        """A round one that goes so many times into the length at most."""
        unit = 10 ** math.floor(math.log10(length))
        return unit * next(f for f in (0.1, 0.2, 0.5, 1, 2, 5) if length / (unit * f) <= most)

    def ticks(self):
        if self.how == "linear":
            step = self.step(self.high, 8)
            return [i * step for i in range(int(self.high / step) + 1)]
        first = 0 if self.how == "zero" else math.floor(math.log10(self.low))
        exponents = range(first, math.ceil(math.log10(self.high)) + 1)
        for factors in ((1,), (1, 2, 5)):
            found = [f * 10.0 ** e for e in exponents for f in factors if self.low <= f * 10.0 ** e <= self.high]
            if len(found) >= 3:
                break
        else:
            step = self.step(self.high - self.low, 7)
            found = [i * step for i in range(math.ceil(max(self.low, step / 2) / step), int(self.high / step) + 1)]
        return [0] * (self.how == "zero") + found


class Powers(Scale):
    """A logarithm whose marks are powers of two: for numbers of processors."""

    def __init__(self, values, begin, end):
        super().__init__("log", values, begin, end)
        self.low, self.high = min(values), max(values) if max(values) > min(values) else 2 * max(values)

    def ticks(self):
        first, last = math.ceil(math.log2(self.low)), math.floor(math.log2(self.high))
        return [2.0 ** e for e in range(first, last + 1, 1 + (last - first) // 7)]


def tick_text(value):
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value:,.0f}" if value >= 1 and value == int(value) else f"{value:g}"


def cut(text, room):
    return text if wide(text) <= room else text[:int(room / wide("x")) - 1] + "…"


def wide(text, size=SIZE):
    return 0.58 * size * len(text)


def marker(way, x, y, tip=None):
    shape, c = SHAPES[kind(way)], f'class="{kind(way)}"'
    title = f"<title>{escape(tip)}</title>" if tip else ""
    if shape == "circle":
        return f'<circle {c} cx="{x:.1f}" cy="{y:.1f}" r="3.6">{title}</circle>'
    paths = {"square": "M-3.3-3.3h6.6v6.6h-6.6z", "diamond": "M0-4.6L4.6 0 0 4.6-4.6 0z",
             "triangle": "M0-4.2L4.2 3.4h-8.4z",
             "down": "M0 4.2L4.2-3.4h-8.4z", "bar": "M-4.5-1.2h9v2.4h-9z",
             "cross": "M-4-2.4l1.6-1.6L0-1.6 2.4-4 4-2.4 1.6 0 4 2.4 2.4 4 0 1.6-2.4 4-4 2.4-1.6 0z"}
    return f'<path {c} d="{paths[shape]}" transform="translate({x:.1f} {y:.1f})">{title}</path>'


class Plot:
    """One picture: its parts, and its text for those who do not see it."""

    def __init__(self, name, title, about):
        self.name, self.title, self.about = name, title, about
        self.parts, self.height = [], 0
        self.text(2, 14, title, "title")
        self.top = 22

    def text(self, x, y, text, css="", anchor="start"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{css}" text-anchor="{anchor}">{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, css):
        self.parts.append(f'<line class="{css}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')

    def legend(self, ways, reference=None, limit=None):
        x, y = 4, self.top + 8
        entries = [(way, way) for way in ways]
        entries += [("reference", reference)] * bool(reference) + [("limit", limit)] * bool(limit)
        for what, text in entries:
            if x > 4 and x + 14 + wide(text) > WIDTH:
                x, y = 4, y + 15
            if what == "reference":
                self.line(x - 2, y, x + 10, y, "reference")
            elif what == "limit":
                self.line(x + 4, y - 5, x + 4, y + 5, "limit")
            else:
                self.parts.append(marker(what, x + 4, y))
            self.text(x + 13, y + 4, text)
            x += 13 + wide(text) + 12
        self.top = y + 14

    def x_axis(self, scale, top, bottom, label):
        until = -math.inf
        for tick in scale.ticks():
            x, text = scale(tick), tick_text(tick)
            self.line(x, top, x, bottom, "grid")
            if x - wide(text) / 2 > until + 3 and x + wide(text) / 2 < WIDTH:
                self.text(x, bottom + 13, text, "faint", "middle")
                until = x + wide(text) / 2
        self.text((scale.begin + scale.end) / 2 if len(label) < 46 else WIDTH / 2, bottom + 28, label, "faint",
                  "middle")
        self.height = bottom + 34

    def svg(self, alone=False):
        inside = "".join(self.parts)
        if alone:
            inside = f'<style>{style()}</style><rect class="paper" width="100%" height="100%"/>{inside}'
        size = f'width="{WIDTH}" height="{self.height:.0f}"' if alone else ""
        return (f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" {size} viewBox="0 0 {WIDTH} {self.height:.0f}" '
                f'role="img" aria-label="{escape(self.title)}. {escape(self.about)}">{inside}</svg>')


def dots(name, title, label, rows, how="log", reference=None, limit=None):
    """rows: [(text, {way: {"median", "min", "max"}}, {way: limit})]; reference: (value, text) of a line through all
    rows;
    limit: what the short lines are. None if there is nothing to be drawn."""
    ways = list(dict.fromkeys(way for _, figures, _ in rows for way in figures))
    if not ways:
        return None
    plot = Plot(name, title, label)
    plot.legend(ways, reference and reference[1], limit if any(limits for *_, limits in rows) else None)
    values = [f[part] for _, figures, _ in rows for f in figures.values() for part in ("median", "min", "max")]
    values += [v for *_, limits in rows for v in limits.values()] 
    if reference:
        values.append(reference[0])
    labels = min(LABELS, max(wide(text) for text, *_ in rows) + 4)
    scale = Scale(how, values, labels + 8, WIDTH - RIGHT)
    height = LANE * len(ways) + 7
    bottom = plot.top + height * len(rows)
    for i in range(0, len(rows), 2):
        plot.parts.append(f'<rect class="band" x="0" y="{plot.top + i * height:.1f}" width="{WIDTH}" '
                          f'height="{height}"/>')
    plot.x_axis(scale, plot.top, bottom, label)
    if reference:
        plot.line(scale(reference[0]), plot.top, scale(reference[0]), bottom, "reference")
    for i, (text, figures, limits) in enumerate(rows):
        y = plot.top + i * height
        plot.text(labels, y + height / 2 + 4, cut(text, labels), anchor="end")
        for lane, way in enumerate(ways):
            at = y + 3.5 + LANE * (lane + 0.5)
            if way in limits:
                x = scale(limits[way])
                plot.line(x, at - LANE / 2, x, at + LANE / 2, "limit")
            if way in figures:
                f = figures[way]
                plot.line(scale(f["min"]), at, scale(f["max"]), at, f"spread {kind(way)}")
                spread = "" if f["min"] == f["max"] else f" ({short(f['min'])} to {short(f['max'])})"
                of = f", {limit} {short(limits[way])}" if way in limits else ""
                plot.parts.append(marker(way, scale(f["median"]), at,
                                         f"{text}, {way}: {short(f['median'])}{spread}{of}"))
    return plot


def curves(name, title, lines, limits=(), limit=None, y_label="speed-up"):
    """lines: {way: [(P, speed-up)]}; limits: [(P, speed-up)] as another line, called `limit`. None if there is
    nothing."""
    lines = {way: points for way, points in lines.items() if points}
    points = [p for line in lines.values() for p in line] + list(limits)
    if not lines:
        return None
    plot = Plot(name, title, f"{y_label} over P")
    plot.legend(list(lines), "ideal", limit if limits else None)
    left, top, bottom = 40, plot.top, plot.top + 170
    across = Powers([x for x, _ in points], left, WIDTH - RIGHT)
    down = Powers([1.0, across.high, *(y for _, y in points if y > 0)], bottom, top)
    for tick in down.ticks():
        plot.line(left, down(tick), WIDTH - RIGHT, down(tick), "grid")
        plot.text(left - 8, down(tick) + 4, tick_text(tick), "faint", "end")
    plot.x_axis(across, top, bottom, "P (both axes logarithmic)")
    plot.line(across(across.low), down(across.low), across(across.high), down(across.high), "reference")
    for x, y in limits:
        plot.line(across(x) - 6, down(y), across(x) + 6, down(y), "limit")
    for way, line in lines.items():
        drawn = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in line)
        plot.parts.append(f'<polyline class="{kind(way)}" points="{drawn}"/>')
        plot.parts += [marker(way, across(x), down(y), f"{way}, P = {x:,}: {short(y)}") for x, y in line]
    return plot
