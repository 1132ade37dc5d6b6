"""Makes pages from templates/ by jinja2: the form of a figure, tables, and the frame of a page."""

import pathlib
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from harness.tables import short
from report import draw
from report.data import CLEAR

NONE = "–"


def value(number, text=None):
    """A cell, or a figure in a sentence: rounded, with the exact value beside it."""
    if number is None:
        return NONE
    if text is None:
        text = f"{number:,}" if isinstance(number, int) else f"{number:,.0f}" if abs(number) >= 1000 else short(number)
    return Markup('<data value="{}">{}</data>').format(repr(number), text)


def mib(size):
    return NONE if size is None else value(size / 2**20)


def spread(summary):
    if not summary:
        return NONE
    if summary["min"] == summary["max"]:
        return value(summary["median"])
    return Markup('{} <span class="faint">({}…{})</span>').format(*(value(summary[v]) for v in ("median", "min", "max")))


def words(names):
    """a, b and c; markup if one of them is."""
    if any(isinstance(name, Markup) for name in names):
        return Markup(" and ").join(filter(None, (Markup(", ").join(names[:-1]), names[-1])))
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1] if names else "none"


class Table(NamedTuple):
    """rows: lists of cells. The first cell heads its row; `left` columns are aligned to the left."""

    caption: str
    head: list
    rows: list
    left: int = 1

    @property
    def used(self):
        """The columns that are not empty."""
        return [i for i in range(len(self.head)) if i < self.left or any(row[i] != NONE for row in self.rows)]


def render(template, **given):
    environment = Environment(loader=FileSystemLoader(pathlib.Path(__file__).parent / "templates"), autoescape=True,
                              trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.filters |= {"value": value, "mib": mib, "words": words, "picture": lambda plot: Markup(plot.svg())}
    return environment.get_template(template).render(style=Markup(draw.style()), CLEAR=CLEAR, NONE=NONE, **given) + "\n"
