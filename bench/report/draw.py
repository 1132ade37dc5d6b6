"""Draws dots and curves by matplotlib, as SVG. Plots are 360 wide, so that they stand side by side on a wide screen and can be read on a
narrow one. One that is to use the whole page is drawn twice, and each screen shows one of the two. Colors follow the reader's color scheme;
variants differ by shape, too."""

import copy
import io
import math
import re
import xml.etree.ElementTree as ElementTree

import matplotlib
from matplotlib import ticker
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from harness.tables import short

WIDTH = 360
WIDE = 1080  # of a plot that uses the whole page
LEFT = 54  # pixels for the name and the numbers of a y axis
LABELS = 116  # pixels for the names of rows
RIGHT = 19
SIZE = 11  # of letters
LETTER = 0.58 * SIZE  # about the width of one
LANE = 9  # pixels of a row for each way
COLUMNS = 3  # of the legend

# On white and on black. The colors of ways are those of Okabe and Ito, on black those that can be distinguished.
INK, FAINT, GRID, PAPER = ("#1b1f24", "#e6e8eb"), ("#5c636d", "#a4abb5"), ("#dfe3e8", "#3a4049"), ("#ffffff", "#16181c")
COLOURS = {"serial": ("#5f6670", "#a9b1bc"), "continuations": ("#0072b2", "#56b4e9"), "tasks": ("#d55e00", "#e69f00"),
           "scope": ("#007e5c", "#2fc79b"), "tbb": ("#a8447f", "#ec9cc6"),
           "oneTBB": ("#a8447f", "#ec9cc6"), "last_leave": ("#007e5c", "#2fc79b"), "first_top": ("#6d3a8c", "#c9a5e4"),
           "last_leap": ("#8a6d00", "#f0e442"), "tbb_group": ("#6d3a8c", "#c9a5e4"), "omp": ("#8a6d00", "#f0e442"), "other": ("#222222", "#eeeeee")}
AWAKE = ", awake"  # after the name of a way whose workers are awake from the start: the same colour, dashed
PARTS = {"work": COLOURS["scope"], "looking": COLOURS["tasks"], "idle": COLOURS["serial"]}
SHAPES = {"serial": "_", "continuations": "o", "tasks": "s", "scope": "D", "tbb": "^", "tbb_group": "v", "omp": "X",
          "oneTBB": "^", "last_leave": "D", "first_top": "v", "last_leap": "X"}
# Text stays text, at most as wide as in matplotlib's own font.
matplotlib.rcParams |= {"svg.fonttype": "none", "font.family": "DejaVu Sans", "font.size": SIZE,
                        "text.color": INK[0], "xtick.color": FAINT[0], "ytick.color": FAINT[0], "grid.color": GRID[0],
                        "grid.linewidth": 1, "axes.axisbelow": True, "text.parse_math": False}
SVG = "http://www.w3.org/2000/svg"
ElementTree.register_namespace("", SVG)


def style():
    """Style for a page, or for a plot in a file of its own: matplotlib draws in the colors for white, and this turns each into
    the color for black. A program without CSS shows the colors for white."""
    rules = "".join(f'svg.plot [style*="{what}: {white}"]{{{what}:{black}!important}}'
                    for white, black in (INK, FAINT, GRID, PAPER, *COLOURS.values()) for what in ("fill", "stroke"))
    return f"@media(prefers-color-scheme:dark){{{rules}}}"


def colour(way):
    return COLOURS.get(way.removesuffix(AWAKE), COLOURS["other"])[0]


def tick_text(value, _=None):
    if value >= 1e4:
        return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1e3:g}k"
    return f"{value:,.0f}" if value >= 1 and value == int(value) else f"{value:g}"


class Plot:
    """One picture with its name: an SVG element, with a text for readers who cannot see it."""

    def __init__(self, name, title, about, height, width=WIDTH):
        self.name, self.title, self.about, self.width, self.height = name, title, about, width, height
        self.figure = Figure(figsize=(width / 72, height / 72), dpi=72)  # a point is a pixel
        self.figure.patch.set_color(PAPER[0])
        self.tips = {}
        self.drawn = None
        self.screen = ""  # "wide" or "narrow": where the page shows it; else on both
        self.text(2, 14, title, weight="bold", size=SIZE + 1)

    def text(self, x, y, text, **how):
        self.figure.text(x / self.width, 1 - y / self.height, text, **how)

    def name_y(self, text, top, bottom):
        """Names the vertical axis between these pixels."""
        self.text(13, (top + bottom) / 2, text, color=FAINT[0], rotation=90, ha="center", va="center")

    def axes(self, left, right, top, bottom):
        axes = self.figure.add_axes((left / self.width, 1 - bottom / self.height, (right - left) / self.width,
                                     (bottom - top) / self.height), frameon=False)
        axes.tick_params(which="both", length=0, labelsize=SIZE, pad=6)
        axes.grid(True)
        return axes

    def legend(self, top, ways, axes, reference=None, limit=None, columns=COLUMNS):
        handles = [axes.scatter([], [], **mark(way)) for way in ways]
        if reference:
            handles.append(Line2D([], [], color=INK[0], linewidth=1, dashes=(4, 3)))
        if limit:
            handles.append(axes.scatter([], [], marker="|", s=100, linewidths=2, color=INK[0]))
        names = [*ways, *filter(None, (reference, limit))]
        across = [i for column in range(columns) for i in range(len(names))[column::columns]]  # it fills columns, not rows
        self.figure.legend([handles[i] for i in across], [names[i] for i in across], loc="upper left", bbox_to_anchor=(0, 1 - top / self.height), ncol=columns,
                           frameon=False, borderpad=0, borderaxespad=0, handletextpad=0.2, handlelength=1.2,
                           columnspacing=1, labelspacing=0.35)

    def marks(self, axes, way, points):
        """points: [(x, y, tip)]; a mark shows its tip when the reader points at it."""
        name = f"tips-{len(self.tips)}"
        self.tips[name] = [tip for *_, tip in points]
        axes.scatter([x for x, *_ in points], [y for _, y, _ in points], clip_on=False, zorder=3, gid=name, **mark(way))

    def element(self):
        """Matplotlib's drawing, without its date, random names and references to other places, because a page has
        many drawings, and the same figures must make the same file."""
        if self.drawn is not None:
            return copy.deepcopy(self.drawn)
        file = io.StringIO()
        FigureCanvasSVG(self.figure).print_svg(file)
        svg = ElementTree.fromstring(file.getvalue())
        shapes = {path.get("id"): path.get("d") for path in svg.iter(f"{{{SVG}}}path")}
        for name, tips in self.tips.items():
            for use, tip in zip(svg.find(f".//*[@id='{name}']").iter(f"{{{SVG}}}use"), tips, strict=True):
                ElementTree.SubElement(use, f"{{{SVG}}}title").text = tip
        for use in list(svg.iter(f"{{{SVG}}}use")):
            shape = shapes[use.attrib.pop("{http://www.w3.org/1999/xlink}href")[1:]]
            use.tag = f"{{{SVG}}}path"
            use.attrib |= {"d": shape, "transform": f"translate({use.attrib.pop('x')} {use.attrib.pop('y')})"}
        for parent in list(svg.iter()):
            for child in list(parent):
                if child.tag.rpartition("}")[2] in ("metadata", "defs"):
                    parent.remove(child)
            for needless in ("id", "clip-path"):
                parent.attrib.pop(needless, None)
            for key in ("d", "transform", "x", "y"):
                if key in parent.attrib:
                    parent.set(key, re.sub(r"(\.\d\d)\d+", r"\1", parent.get(key)).replace("\n", "").strip())
            if "style" in parent.attrib:
                parent.set("style", re.sub(r"'DejaVu Sans'[^;]*", "system-ui, sans-serif", parent.get("style")))
            if not (parent.text or "").strip():
                parent.text = None
            parent.tail = None
        svg.attrib.clear()
        svg.attrib |= {"class": "plot", "viewBox": f"0 0 {self.width} {self.height:.0f}", "role": "img",
                       "aria-label": f"{self.title}. {self.about}"}
        self.drawn, self.figure = svg, None
        return copy.deepcopy(svg)

    def pdf(self, file):
        """Writes it, for a paper: in the colors for white. Before the SVG, which takes the drawing apart. Without the date, as the SVG."""
        FigureCanvasPdf(self.figure).print_pdf(file, metadata={"Title": self.title, "Subject": self.about, "CreationDate": None})

    def svg(self, alone=False):
        """Returns markup, for a page or for a file of its own."""
        svg = self.element()
        if alone:
            svg.attrib |= {"width": str(self.width), "height": f"{self.height:.0f}"}
            for tag, text in (("style", style()), ("desc", self.about), ("title", self.title)):
                element = ElementTree.Element(f"{{{SVG}}}{tag}")
                element.text = text
                svg.insert(0, element)
        else:
            paper = svg.find(f".//{{{SVG}}}path")  # the first is the background, and a page has its own
            next(parent for parent in svg.iter() if paper in parent).remove(paper)
        return ElementTree.tostring(svg, encoding="unicode")


def mark(way):
    """How scatter draws it."""
    shape = {"continuations" + AWAKE: "^", "tasks" + AWAKE: "v"}.get(way, SHAPES.get(way, "o"))
    size = {"_": 80, "o": 46, "s": 38, "D": 36, "X": 56}.get(shape, 50)
    return {"marker": shape, "s": size, "color": colour(way), "linewidths": 2.4 if shape == "_" else 0}


def scale(axis, how, values):
    """The scale of an axis: a logarithm; linear from 0; `zero`, a logarithm with a place for 0; or `powers` of two, for
    numbers of processors."""
    values = [v for v in values if how in ("linear", "zero") or v > 0] or [1]
    low, high = min(values), max(values)
    if how == "log":
        low, high = low / 1.15, max(high * 1.15, low * 2)
        subs = (1, 2, 5) if high < 80 * low else (1, 3) if high < 800 * low else (1,)
        kind, locator = {"value": "log"}, ticker.LogLocator(subs=subs, numticks=8)
    elif how == "linear":
        low, high = 0, high * 1.08 or 1
        kind, locator = {"value": "linear"}, ticker.MaxNLocator(7, steps=(1, 2, 5, 10))
    elif how == "zero":
        low, high = 0, max(high * 1.3, 3)
        kind = {"value": "symlog", "linthresh": 1}
        locator = ticker.SymmetricalLogLocator(base=10, linthresh=1, subs=(1, 2, 5) if high < 40 else (1,))
    else:
        high = high if high > low else 2 * high
        kind, locator = {"value": "log", "base": 2}, ticker.LogLocator(base=2, numticks=8)
    getattr(axis.axes, f"set_{axis.axis_name}scale")(**kind)
    axis.axes.set(**{f"{axis.axis_name}lim": (low, high)})
    axis.set(major_locator=locator, major_formatter=ticker.FuncFormatter(tick_text), minor_locator=ticker.NullLocator())


def dots(name, title, label, rows, how="log", reference=None, limit=None, width=WIDTH):
    """rows: [(text, {way: {"median", "min", "max"}}, {way: limit})]; reference: (value, text) of a line through all rows;
    limit: the name of the short lines. None if there is nothing to draw."""
    ways = list(dict.fromkeys(way for _, figures, _ in rows for way in figures))
    if not ways:
        return None
    limited = limit if any(limits for *_, limits in rows) else None
    top = 26 + 16 * math.ceil((len(ways) + bool(reference) + bool(limited)) / COLUMNS)
    height = LANE * len(ways) + 7
    bottom = top + height * len(rows)
    plot = Plot(name, title, label, bottom + 34, width)
    labels = min(LABELS, max(len(text) for text, *_ in rows) * LETTER + 4)
    axes = plot.axes(labels + 8, width - RIGHT, top, bottom)
    values = [f[part] for _, figures, _ in rows for f in figures.values() for part in ("median", "min", "max")]
    scale(axes.xaxis, how, values + [v for *_, limits in rows for v in limits.values()]
          + ([reference[0]] if reference else []))
    axes.set_ylim(bottom, top)  # pixels again
    axes.set_yticks([])
    low = axes.get_xlim()[0]
    wide = width - RIGHT - labels - 8
    band = -(labels + 8) / wide, 1 + RIGHT / wide  # from edge to edge
    plot.legend(22, ways, axes, reference and reference[1], limited)
    plot.text((labels + 8 + width - RIGHT) / 2 if len(label) < 46 else width / 2, bottom + 28, label, color=FAINT[0],
              ha="center")
    if reference:
        axes.vlines(reference[0], top, bottom, color=INK[0], linewidth=1, linestyles=[(0, (4, 3))])
    middles = {}
    for i, (text, *_) in enumerate(rows):
        y = top + i * height
        middles |= {(i, way): y + 3.5 + LANE * (lane + 0.5) for lane, way in enumerate(ways)}
        if i % 2 == 0:
            axes.axhspan(y, y + height, *band, color=GRID[0], alpha=0.35, linewidth=0, clip_on=False, zorder=0)
        plot.text(labels, y + height / 2 + 4, text if len(text) * LETTER <= labels else text[:int(labels / LETTER) - 1] + "…",
                  ha="right")
    for way in ways:
        drawn = [(text, middles[i, way], figures[way], limits.get(way)) for i, (text, figures, limits) in enumerate(rows)
                 if way in figures]
        axes.hlines([y for _, y, *_ in drawn], [max(f["min"], low) for *_, f, _ in drawn], [f["max"] for *_, f, _ in drawn],
                    color=colour(way), linewidth=1.5, alpha=0.55, zorder=2)
        limited = [(y, at) for _, y, _, at in drawn if at is not None]
        axes.vlines([at for _, at in limited], [y - LANE / 2 for y, _ in limited], [y + LANE / 2 for y, _ in limited],
                    color=INK[0], linewidth=2)
        plot.marks(axes, way, [(max(f["median"], low), y, f"{text}, {way}: {told(f)}"
                                + (f", {limit} {short(at)}" if at is not None else "")) for text, y, f, at in drawn])
    return plot


def told(figure):
    spread = "" if figure["min"] == figure["max"] else f" ({short(figure['min'])} to {short(figure['max'])})"
    return short(figure["median"]) + spread


def bars(name, title, label, rows, parts):
    """rows: [(text, shares)], of each the shares of `parts` from left to right. None if there is nothing to draw."""
    if not rows:
        return None
    top, height = 42, 18
    bottom = top + height * len(rows)
    plot = Plot(name, title, label, bottom + 34)
    labels = min(LABELS, max(len(text) for text, _ in rows) * LETTER + 4)
    axes = plot.axes(labels + 8, WIDTH - RIGHT, top, bottom)
    axes.set(xlim=(0, 100), ylim=(bottom, top), yticks=[])
    handles = [axes.scatter([], [], marker="s", s=60, color=PARTS[part][0], linewidths=0) for part in parts]
    plot.figure.legend(handles, parts, loc="upper left", bbox_to_anchor=(0, 1 - 22 / plot.height), ncol=len(parts), frameon=False,
                       borderpad=0, borderaxespad=0, handletextpad=0.2, columnspacing=1)
    plot.text((labels + 8 + WIDTH - RIGHT) / 2, bottom + 28, label, color=FAINT[0], ha="center")
    for i, (text, shares) in enumerate(rows):
        y, left = top + i * height, 0
        plot.text(labels, y + height / 2 + 4, text if len(text) * LETTER <= labels else text[:int(labels / LETTER) - 1] + "…",
                  ha="right")
        for part, share in zip(parts, shares):
            axes.barh([y + height / 2], [100 * share], left=[left], height=height - 6, color=PARTS[part][0], linewidth=0)
            left += 100 * share
    return plot


def curves(name, title, lines, limits=(), limit=None, y_label="speed-up"):
    """lines: {way: [(P, speed-up)]}; limits: [(P, speed-up)] as another line, called `limit`. None if there is nothing."""
    lines = {way: points for way, points in lines.items() if points}
    points = [p for line in lines.values() for p in line] + list(limits)
    if not lines:
        return None
    columns = 2 if any(len(way) > len("continuations") for way in lines) else COLUMNS
    top = 32 + 16 * math.ceil((len(lines) + 1 + bool(limits)) / columns)
    plot = Plot(name, title, f"{y_label} over P", top + 204)
    axes = plot.axes(LEFT, WIDTH - RIGHT, top, top + 170)
    scale(axes.xaxis, "powers", [x for x, _ in points])
    ideal = axes.get_xlim()
    scale(axes.yaxis, "powers", [1.0, ideal[1], *(y for _, y in points)])
    plot.legend(22, list(lines), axes, "ideal", limit if limits else None, columns)
    plot.text((LEFT + WIDTH - RIGHT) / 2, top + 198, "Ps (both axes logarithmic)", color=FAINT[0], ha="center")
    plot.name_y(y_label, top, top + 170)
    axes.plot(ideal, ideal, color=INK[0], linewidth=1, dashes=(4, 3))
    axes.scatter([x for x, _ in limits], [y for _, y in limits], marker="_", s=140, linewidths=2, color=INK[0], clip_on=False)
    for way, line in lines.items():
        axes.plot(*zip(*line), color=colour(way), linewidth=2, linestyle=(0, (3, 2)) if way.endswith(AWAKE) else "-")
        plot.marks(axes, way, [(x, y, f"{way}, P = {x:,}: {short(y)}") for x, y in line])
    return plot


def over(name, title, about, x_label, lines, reference, called, y_label=None):
    """lines: {way: [(x, y)]}; reference: [(x, y)] of a dashed line that is called so; y_label: `about`, unless that is too long for the
    axis. None if there is nothing."""
    lines = {way: points for way, points in lines.items() if points}
    if not lines:
        return None
    top = 32 + 16 * math.ceil((len(lines) + 1) / COLUMNS)
    plot = Plot(name, title, about, top + 204)
    axes = plot.axes(LEFT, WIDTH - RIGHT, top, top + 170)
    points = [point for line in (*lines.values(), reference) for point in line]
    scale(axes.xaxis, "log", [x for x, _ in points])
    scale(axes.yaxis, "log", [y for _, y in points])
    plot.legend(22, list(lines), axes, called)
    plot.name_y(y_label or about, top, top + 170)
    plot.text((LEFT + WIDTH - RIGHT) / 2, top + 198, f"{x_label} (both axes logarithmic); less is better", color=FAINT[0], ha="center")
    axes.plot(*zip(*reference), color=INK[0], linewidth=1, dashes=(4, 3))
    for way, line in lines.items():
        axes.plot(*zip(*line), color=colour(way), linewidth=2)
        plot.marks(axes, way, [(x, y, f"{way}, {x:,}: {short(y)}") for x, y in line])
    return plot


def ranks(name, title, about, x_label, y_label, lines, called):
    """lines: {name: sorted ratios}, each drawn from its least on the left to its greatest on the right; called: the line at 1."""
    top = 48
    plot = Plot(name, title, about, top + 204)
    axes = plot.axes(LEFT, WIDTH - RIGHT, top, top + 170)
    scale(axes.yaxis, "log", [value for line in lines.values() for value in line])
    axes.set_xlim(1, max(map(len, lines.values())))
    axes.xaxis.set(major_locator=ticker.MaxNLocator(5), major_formatter=ticker.FuncFormatter(tick_text))
    drawn = [Line2D([], [], **line_of(i)) for i in range(len(lines))]
    plot.figure.legend([*drawn, Line2D([], [], color=INK[0], linewidth=1, dashes=(4, 3))], [*lines, called], loc="upper left",
                       bbox_to_anchor=(0, 1 - 22 / plot.height), ncol=len(lines) + 1, frameon=False, borderpad=0, borderaxespad=0, columnspacing=1)
    plot.name_y(y_label, top, top + 170)
    plot.text((LEFT + WIDTH - RIGHT) / 2, top + 198, x_label, color=FAINT[0], ha="center")
    axes.axhline(1, color=INK[0], linewidth=1, dashes=(4, 3))
    for i, line in enumerate(lines.values()):
        axes.plot(range(1, len(line) + 1), line, **line_of(i))
    return plot


def line_of(i):
    """Lines that differ by shape, too."""
    return {"color": COLOURS[("scope", "continuations", "tasks")[i]][0], "linewidth": 2, "linestyle": ("-", (0, (5, 1.5)), (0, (1.5, 1)))[i]}


def over_sizes(name, title, lines):
    """lines: {way: [(size, summary of the time over the serial program's)]}. None if there is nothing."""
    sizes = sorted({size for line in lines.values() for size, _ in line})
    return over(name, title, "time over serial, by size", "size",
                {way: [(size, s["median"]) for size, s in line] for way, line in lines.items()}, [(size, 1.0) for size in sizes], "serial",
                "time over serial")
