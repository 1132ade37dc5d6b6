"""Order and join taken apart: the table of all ways named <order>_<join>, and the sentences that follow from it by rule.

Order: which sibling runs first, the first (as in the serial program) or the last. Join: what a strand does that waits for a
stolen sibling; it leaves its stack, runs other work on top, or runs work of its thief alone (leapfrogging). The ways
`continuations` and `tasks` are two corners, and differ in both. So nothing is said about a join that does not show at each order,
and nothing about an order that does not show with each join.
"""

from statistics import geometric_mean

from markupsafe import Markup

from harness.figures import ENOUGH, Figure, ratio
from report.data import CLEAR
from report.pages import NONE, Table, spread, value, words

ORDERS = {"first": "first child first", "last": "last child first"}
JOINS = {"leave": "leaves its stack", "top": "runs others on top", "leap": "runs its thief's"}
ALIKE = 0.05  # the margin within which two ways are called as quick
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


def interval(figure):
    """Where the true median lies; None if there are too few rounds to say."""
    return figure.median_lies_between() if len(figure.values) >= ENOUGH else None


def sign(figure, least=1.0):
    """1 or -1 as of side_of, if the median differs from 1 by more than the factor `least`, too; else 0, also for too few rounds."""
    return (max(figure.median, 1 / figure.median) > least and figure.side()) or 0


COPIES = ("again", "padded")  # continuations, made twice more


def floor(data, problem, procs):
    """What a change must exceed: the largest factor between continuations and their copies; 1 if these were not measured."""
    found = [times_of(data, problem, procs, copy, "continuations") for copy in COPIES
             if data.result(problem, copy, procs) and data.result(problem, "continuations", procs)]
    return max([max(f.median, 1 / f.median) for f in found if f], default=1.0)


def alike(figure):
    """Whether the true median is surely no further from 1 than ALIKE."""
    found = interval(figure)
    return bool(found) and found[0] >= 1 / (1 + ALIKE) and found[1] <= 1 + ALIKE


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
    def alike(self):
        """Whether none of the comparisons, of which there must be two, shows more than ALIKE."""
        return len(self.figures) > 1 and all(map(alike, self.figures))

    @property
    def size(self):
        return geometric_mean([f.median for f in self.figures])


def order_effect(data, problem, procs):
    return Effect([times(data, problem, procs, ("last", join), ("first", join)) for join in JOINS], floor(data, problem, procs))


def join_effect(data, problem, procs, join):
    return Effect([times(data, problem, procs, (order, join), (order, "leave")) for order in ORDERS], floor(data, problem, procs))


def listed(data, found):
    """fib (1.10) and uts (1.20)"""
    return words([Markup("{} ({})").format(data.name(problem), value(size)) for problem, size in found])


def clear_ones(data, effects):
    """What the last child first, or another join, does to the time: "more in ..., less in ..."."""
    told = []
    for wanted, text in ((1, "more time in "), (-1, "less time in ")):
        if found := [(problem, e.size) for problem, e in effects if e.sign == wanted]:
            told.append(Markup(text) + listed(data, found))
    if found := [data.name(problem) for problem, e in effects if e.alike and not e.sign]:
        told.append(Markup("as much time, within {:.0%}, in {}").format(ALIKE, words(found)))
    return Markup("; ").join(told)


def one_join(data, problem, procs):
    """The time with one join for all children of a node, over that of nested forks of two, both continuations."""
    measured = data.result(problem, "first_leave", procs) and data.result(problem, "continuations", procs)
    return times_of(data, problem, procs, "continuations", "first_leave") if measured else Figure([])


def of_one_join(data, procs):
    found = [(problem, f) for problem in data.problems if (f := one_join(data, problem, procs))]
    return Markup("one join for all children of a node, instead of nested forks of two, takes {}.").format(
        words([Markup("{} of the time in {} ({})").format(value(f.median), data.name(problem), f"n = {len(f.values)}")
               for problem, f in found])) if found else None


def of_order(data, procs):
    effects = [(problem, order_effect(data, problem, procs)) for problem in data.problems]
    if not any(len(e.figures) > 1 for _, e in effects):
        return None
    return Markup("the last child first takes {}.").format(
        clear_ones(data, effects) or "neither clearly more nor clearly less time in any problem")


def of_joins(data, procs):
    told = []
    for join, text in (("top", "to run others on top takes "), ("leap", "to run the thief's work takes ")):
        effects = [(problem, join_effect(data, problem, procs, join)) for problem in data.problems]
        if any(len(e.figures) > 1 for _, e in effects):
            told.append(Markup(text) + (clear_ones(data, effects) or "neither clearly more nor clearly less time in any problem"))
    return Markup("compared with leaving the stack, {}.").format(Markup("; ").join(told)) if told else None


def of_corners(data, procs):
    """In which problems order or join explains the difference between the corners."""
    by = {"order": [], "join": [], "both": [], "open": []}
    for problem in data.problems:
        corner = times(data, problem, procs, ("last", "top"), ("first", "leave"))
        side = corner and sign(corner, floor(data, problem, procs))
        if not side:
            continue
        by_order = order_effect(data, problem, procs).sign == side
        by_join = join_effect(data, problem, procs, "top").sign == side
        which = "both" if by_order and by_join else "order" if by_order else "join" if by_join else "open"
        by[which].append((problem, corner.median))
    said = {"order": "the order alone explains ", "join": "the join alone explains ", "both": "order and join both explain ",
            "open": "the measurement does not tell what explains "}
    told = [Markup(said[which]) + listed(data, found) for which, found in by.items() if found]
    return Markup("of the time of tasks over continuations, {}.").format(Markup("; ").join(told)) if told else None


def of_floor(data, procs):
    """What copies of one program differ by."""
    floors = [(problem, floor(data, problem, procs)) for problem in data.problems]
    found = [(problem, least) for problem, least in floors if least > 1]
    return Markup("continuations, made twice more, differ from themselves by factors of up to {}: what changes less is not told "
                  "apart.").format(listed(data, found)) if found else None


def sentences(data):
    """[(where, [sentences])], for each compiler and P. On one P nothing is stolen."""
    found = []
    for compiler, of in data.each():
        for procs in of.procs:
            if told := [text for tell in (of_order, of_joins, of_corners, of_one_join, of_floor) if (text := tell(of, procs))]:
                where = "P = 1, the cost of a fork" if procs == 1 else f"P = {procs}"
                found.append((", ".join(filter(None, (compiler, where))), told))
    return found


def complete(data):
    """Whether both orders were measured with the same join, so that one axis can be told from the other."""
    return any(order_effect(of, problem, procs).figures or any(join_effect(of, problem, procs, j).figures for j in ("top", "leap"))
               for _, of in data.each() for problem in of.problems for procs in of.procs)


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
