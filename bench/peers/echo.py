#!/usr/bin/env python3
"""Runs the echo server of bench/echo, ours and Go's, in interleaved rounds, each with the same clients in a process of their own.

    bench/peers/echo.py [case...] --build build [--build build-clang] [--procs 1,2] [--rounds N] [--json FILE]

Rates are answers in a second; times are microseconds from a request to its answer; threads are those of the server in the middle of
a run. Each figure is the median of all rounds, with the smallest and the largest. `computed` counts how often a server's computing fibers
finished in a second: what fast answers cost.
"""

import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent)

from harness import measure  # noqa: E402
from peers import beside_go  # noqa: E402

# The mean pause of a client in ms, how all P compute, if they do, and what the case is.
CASES = {
    "light": (200, "", "clients that pause"),
    "forks": (200, "forks", "the same, while a fiber for each P forks"),
    "loops": (200, "loops", "the same, while a fiber for each P loops"),
    "full": (0, "", "clients that do not pause"),
}
FIGURES = ("rate", "p50", "p99", "p999", "max", "computed", "threads")
CONNECTIONS = 1000
ROUNDS = 5
TIMEOUT = 60  # seconds of the clients


def clients(build, server, port, pause, args):
    """What the clients say, and the threads of the server in the middle."""
    command = [str(build / "bench" / "echo"), "load", port, str(args.connections), str(pause), str(args.seconds)]
    load = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(args.seconds / 2)
        threads = len(list(pathlib.Path(f"/proc/{server.pid}/task").iterdir()))
        out, errors = load.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise measure.Failed(f"did not end within {TIMEOUT} s: {' '.join(command)}") from None
    finally:
        load.kill()
    if load.returncode != 0:
        raise measure.Failed(f"ended with status {load.returncode}: {' '.join(command)}\n{out}{errors}")
    with measure.making_sense_of(command):
        said = dict(line.split() for line in out.splitlines())
        return {**{name: float(said[name]) for name in ("rate", "p50", "p99", "p999", "max")}, "threads": threads,
                "priority": said["priority"]}


def run(program, case, procs, args):
    pause, computing, _ = CASES[case]
    command = [str(program), "server", str(procs), *(str(procs if computing == how else 0) for how in ("forks", "loops"))]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        begin = time.monotonic()
        first = server.stdout.readline().split()
        if len(first) != 2 or first[0] != "port":
            raise measure.Failed(f"names no port: {' '.join(command)}")
        figures = clients(args.build[0], server, first[1], pause, args)
        last = server.communicate(timeout=TIMEOUT)[0].split()
        with measure.making_sense_of(command):
            figures["computed"] = int(dict([last])["computed"]) / (time.monotonic() - begin)
        return figures
    finally:
        server.kill()


def show(case, procs, found):
    for name, rounds in found.items():
        row = []
        for figure in FIGURES:
            values = [each[figure] for each in rounds]
            row.append(f"{figure} {statistics.median(values):.0f} ({min(values):.0f}..{max(values):.0f})")
        print(f"{case:10} {procs} P  {name:8} {'  '.join(row)}", flush=True)


def main():
    args = beside_go.parse(__doc__, CASES, ROUNDS, connections=(CONNECTIONS, ""), seconds=(1.0, "that count in a run"))

    def measured(programs, case, procs):
        found = beside_go.in_turn(programs, args.rounds, lambda program: run(program, case, procs, args))
        show(case, procs, found)
        return {"what": CASES[case][2], "rounds": found}

    beside_go.compare("echo", args, ["rounds", "seconds", "connections"], measured)


if __name__ == "__main__":
    beside_go.end(main, "bench/peers/echo.py")
