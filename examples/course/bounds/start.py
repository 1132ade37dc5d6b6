"""Lab 3: what a scheduler can do with a program, whatever its shape. Times in nanoseconds; work is T_1, span T_infinity."""


def least(work, span, procs):
    """No scheduler is faster than this on so many Ps."""
    return work / procs


def most(work, span, procs):
    """A greedy scheduler is never slower."""
    return work / procs


def worth(work, span):
    """The most P that a greedy scheduler keeps busy for at least half of the time, whatever the shape of the program."""
    return work / span / 2
