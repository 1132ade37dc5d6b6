"""Lab 3: what a scheduler can do with a program, whatever its shape. Times in nanoseconds; work is T_1, span T_infinity."""


def least(work, span, procs):
    """No scheduler is faster than this on so many Ps: together they do `procs` a step, and the longest path takes its time."""
    return max(work / procs, span)


def most(work, span, procs):
    """A greedy scheduler is never slower. In each step either all Ps work, of which there are at most (work - span) / procs beside
    those of the path; or some P is idle, and then the longest path that is left becomes shorter."""
    return (work - span) / procs + span


def worth(work, span):
    """The most P that a greedy scheduler keeps busy for at least half of the time: work / (procs * most) >= 1 / 2."""
    return work / span + 1
