"""Order and join, taken apart: tables of all variants named <order>_<join>, and of the effects that follow from them by rule.

Order: which sibling runs first, the first (as in the serial program) or the last. Join: what a strand does that waits for a
stolen sibling; it leaves its stack, runs other work on top, or runs work of its thief alone (leapfrogging). The ways
`continuations` and `tasks` are two corners, and differ in both. An effect of a join therefore has to show with each order, and an effect
of the order with each join.
"""

from statistics import geometric_mean

from markupsafe import Markup

from harness.figures import Figure, ratio
from report.pages import NONE, Table, spread, value

ORDERS = {"first": "first child first", "last": "last child first"}
JOINS = {"leave": "leaves its stack", "top": "runs others on top", "leap": "runs its thief's"}
OTHERS = ("top", "leap")  # joins, compared with leaving the stack
CORNERS = {("first", "leave"): "continuations", ("last", "top"): "tasks"}


def way_of(data, problem, order, join, procs):
    """The name of the way that was measured; None if there is none."""
    for way in (f"{order}_{join}", CORNERS.get((order, join))):
        if way and data.result(problem, way, procs):
            return way
    return None


def times(data, problem, procs, over, under):
    """Ratios of times within rounds, of two (order, join); a Figure, which may be empty."""
    return times_of(data, problem, procs, *(way_of(data, problem, *of, procs) for of in (over, under)))


def times_of(data, problem, procs, *ways):
    if None in ways:
        return Figure([])
    return Figure([ratio(a, b) for a, b in zip(*(data.result(problem, way, procs).get("ms", []) for way in ways))])


def sign(figure, least=1.0):
    """1 or -1 as of side_of, if the median differs from 1 by more than the factor `least`, too; else 0, also for too few rounds."""
    return (max(figure.median, 1 / figure.median) > least and figure.side()) or 0


COPIES = ("again", "padded")  # continuations, made twice more


def floor(data, problem, procs):
    """What a change must exceed: the largest factor between continuations and their copies; 1 if these were not measured."""
    found = [times_of(data, problem, procs, copy, "continuations") for copy in COPIES
             if data.result(problem, copy, procs) and data.result(problem, "continuations", procs)]
    return max([max(f.median, 1 / f.median) for f in found if f], default=1.0)


class Effect:
    """Of one change of policy, each time with the rest alike."""

    def __init__(self, figures, least=1.0):
        self.figures, self.least = [f for f in figures if f], least

    @property
    def sign(self):
        """What all comparisons agree on, of which there must be two; else 0."""
        signs = {sign(f, self.least) for f in self.figures}
        return signs.pop() if len(self.figures) > 1 and len(signs) == 1 else 0

    @property
    def size(self):
        return geometric_mean([f.median for f in self.figures])


def order_effect(data, problem, procs):
    return Effect([times(data, problem, procs, ("last", join), ("first", join)) for join in JOINS], floor(data, problem, procs))


def join_effect(data, problem, procs, join):
    return Effect([times(data, problem, procs, (order, join), (order, "leave")) for order in ORDERS], floor(data, problem, procs))


def one_join(data, problem, procs):
    """The time with one join for all children of a node, over that of nested forks of two, both continuations."""
    measured = data.result(problem, "first_leave", procs) and data.result(problem, "continuations", procs)
    return times_of(data, problem, procs, "continuations", "first_leave") if measured else Figure([])


def each(data):
    """[(compiler, its figures, P)]"""
    return [(compiler, of, procs) for compiler, of in data.each() for procs in of.procs]


def order_effects(data, name):
    """Of a problem with that short name, by compiler and P."""
    return [order_effect(of, problem, procs) for _, of, procs in each(data) for problem in of.problems if of.name(problem) == name]


def all_join_effects(data):
    return [join_effect(of, problem, procs, join) for _, of, procs in each(data) for problem in of.problems for join in OTHERS]


def corners(data):
    """What explains each significant difference between tasks and continuations: "order", "join", "both" or "open"."""
    found = []
    for _, of, procs in each(data):
        for problem in of.problems:
            corner = times(of, problem, procs, ("last", "top"), ("first", "leave"))
            side = corner and sign(corner, floor(of, problem, procs))
            if side:
                by_order = order_effect(of, problem, procs).sign == side
                by_join = join_effect(of, problem, procs, "top").sign == side
                found.append("both" if by_order and by_join else "order" if by_order else "join" if by_join else "open")
    return found


def complete(data):
    """Whether both orders were measured with the same join, so that one axis can be told from the other."""
    return any(effect.figures for problem in data.problems for effect in order_effects(data, data.name(problem))) or any(
        effect.figures for effect in all_join_effects(data))


def effects(data):
    """A row for each problem: what the last child first does to the time, and another join than leaving the stack, where that is
    significant, and the noise. On one P nothing is stolen."""
    places = [(", ".join(filter(None, (compiler, f"P = {procs}"))), of, procs) for compiler, of, procs in each(data)]
    rows = []
    for problem in data.problems if complete(data) else []:
        orders = [order_effect(of, problem, procs) for _, of, procs in places]
        joins = [[(where, e.size) for where, of, procs in places if (e := join_effect(of, problem, procs, join)).sign] for join in OTHERS]
        noise = max(floor(of, problem, procs) for _, of, procs in places)
        rows.append([data.full_name(problem), *(value(e.size) if e.sign else NONE for e in orders),
                     *(Markup("; ").join(Markup("{}: {}").format(where, value(size)) for where, size in found) or NONE for found in joins),
                     value(noise) if noise > 1 else NONE])
    return Table("Significant effects on the time: of the last child first, over the first; of a join, over leaving the stack",
                 ["kernel", *(f"last child first, {where}" for where, *_ in places), *(JOINS[join] for join in OTHERS), "noise"], rows)


def table(data):
    """A row for each problem, compiler and P: times over that of first child first, leaving its stack."""
    ways = [(order, join) for order in ORDERS for join in JOINS]
    rows = []
    for problem in data.problems:
        for compiler, of in data.each():
            for procs in of.procs:
                base = way_of(of, problem, *ways[0], procs)
                figures = [times(of, problem, procs, way, ways[0]) for way in ways[1:]]
                if base is None or not any(figures):
                    continue
                n = [len(f.values) for f in figures if f]
                rows.append([of.full_name(problem), compiler or NONE, value(procs),
                             value(of.result(problem, base, procs)["median_ms"]),
                             *(spread(f.summary()) if f else NONE for f in [*figures, one_join(of, problem, procs)]),
                             value(n[0]) if len(set(n)) == 1 else f"{min(n)} to {max(n)}"])
    heads = [f"{ORDERS[order]}, {JOINS[join]}" for order, join in ways]
    return Table("Order and join: milliseconds of the first way, and the others' time over it (least…most)",
                 ["kernel", "compiler", "P", heads[0] + ", ms", *heads[1:], "the first, one join for all", "n"], rows)


def counters(data):
    """What a strand held and where it waited, by each order and join: of one run of each, by the first compiler."""
    ways = [(order, join) for order in ORDERS for join in JOINS]
    rows = []
    for problem in data.problems if complete(data) else []:
        for order, join in ways:
            way = way_of(data, problem, order, join, data.most)
            found = [data.counter(problem, way, procs, name) for name, procs in
                     (("deepest_deque", 1), ("steals", data.most), ("suspensions", data.most), ("join_waits", data.most),
                      ("stacks_peak", data.most))]
            if any(f is not None for f in found):
                rows.append([data.full_name(problem), f"{ORDERS[order]}, {JOINS[join]}", *map(value, found)])
    return Table("Counters of one run by each order and join",
                 ["kernel", "order and join", "deepest deque, P = 1", *(f"{name}, P = {data.most}" for name in (
                     "steals", "suspensions", "join waits", "stacks at most"))], rows, left=2)
