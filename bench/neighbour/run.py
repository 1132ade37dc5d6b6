#!/usr/bin/env python3
"""Programs alone, and beside a process that computes without end on one processor, the hog: forkjoin, oneTBB and OpenMP on as many Ps as
there are processors.

    bench/neighbour/run.py --build build [--hog first|last] [--rounds N] [--ms MS] [--json FILE]

The programs: fib without a cut-off (a size for each library with which a run takes tens of milliseconds), a loop of 4,000 equal iterations of
about 1 us, a sort of 500,000 numbers with the library's own sort, and our echo server of bench/echo. In each round each program runs alone and
beside the hog, one right after the other, for --ms milliseconds each. The table has the median time of a run, with the least and the greatest
of all rounds. "beside / alone" is the ratio of the mean times in a round: the median, with the least and the greatest. The hog leaves P - 1/2
of P processors to a program. If work is divided at will, the ratio is P / (P - 1/2): 1.33 on two.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import types

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from harness import environment, measure  # noqa: E402
from harness.figures import Figure  # noqa: E402
from harness.tables import print_table, show  # noqa: E402
from peers import echo  # noqa: E402
from peers.programs import versions  # noqa: E402

LIBRARIES = ("forkjoin", "tbb", "omp")
SIZES = {
    "fib": {"forkjoin": 37, "tbb": 29, "omp": 25},
    "loop": dict.fromkeys(LIBRARIES, 4000),
    "sort": dict.fromkeys(LIBRARIES, 500_000),
}
TIMEOUT = 60


@contextlib.contextmanager
def hog(program, nth):
    """Computes while this is entered. It ends with its input, too, and so if this process is killed."""
    process = subprocess.Popen([str(program), str(nth)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != "computes\n":
            raise measure.Failed(f"did not begin: {program} {nth}")
        yield
    finally:
        process.kill()
        process.communicate()


def times(program, what, size, procs, ms):
    """Microseconds of each run."""
    command = [str(program), what, str(size), str(procs), str(ms)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise measure.Failed(f"did not end within {TIMEOUT} s: {measure.in_words(command)}") from None
    if done.returncode != 0:
        raise measure.Failed(f"ended with status {done.returncode}: {measure.in_words(command)}\n{done.stderr}")
    with measure.making_sense_of(command):
        return list(map(float, done.stdout.split()))


def in_rounds(rounds, hogging, take):
    """What take() gives alone and beside the hog, in each round; the order changes from round to round."""
    found = {"alone": [], "beside": []}
    for i in range(rounds):
        for how in found if i % 2 == 0 else reversed(found):
            with hogging() if how == "beside" else contextlib.nullcontext():
                found[how].append(take())
    return found


def runs_of(what, programs, rounds, hogging, procs, ms):
    """A result for each library."""
    for name, program in programs.items():
        size = SIZES[what][name]
        found = in_rounds(rounds, hogging, lambda: times(program, what, size, procs, ms))
        ratio = Figure(statistics.fmean(b) / statistics.fmean(a) for a, b in zip(found["alone"], found["beside"]))
        yield {"what": what, "size": size, "library": name, "procs": procs, "us": found, "ratio": ratio.summary()}


def row_of(result):
    of = [Figure(us / 1000 for one in result["us"][how] for us in one) for how in ("alone", "beside")]
    ratio = result["ratio"]
    return [result["library"], *map(show, of), f"{ratio['median']:.2f} ({ratio['min']:.2f}…{ratio['max']:.2f})"]


def echo_rows(found):
    rows = [["echo", "p50 us", "p99 us", "answers/s"]]
    for how, rounds in found.items():
        rows.append([how, *(show(Figure(each[name] for each in rounds)) for name in ("p50", "p99", "rate"))])
    return rows


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--hog", choices=("first", "last"), default="last", help="the processor of the hog (default: last)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--ms", type=int, default=400, help="milliseconds of a program in a round")
    parser.add_argument("--connections", type=int, default=200, help="of the echo server")
    parser.add_argument("--json", type=pathlib.Path, help="also writes the figures of each round there")
    args = parser.parse_args()
    if args.rounds < 1 or args.ms < 1 or args.connections < 1:
        parser.error("--rounds, --ms and --connections must be above 0")
    return args


def main():
    args = parse()
    build, procs = args.build.resolve(), len(os.sched_getaffinity(0))
    folder = build / "bench"
    programs = {name: folder / f"neighbour_{name}" for name in LIBRARIES if (folder / f"neighbour_{name}").is_file()}
    for file in (folder / "neighbour_forkjoin", folder / "neighbour_hog", folder / "echo"):
        if not file.is_file():
            raise measure.Failed(f"{file} is not there; ./dev bench neighbour builds it")
    load = os.getloadavg()

    def hogging():
        return hog(folder / "neighbour_hog", 0 if args.hog == "first" else procs - 1)

    print(f"P = {procs}, {args.rounds} rounds, the hog on the {args.hog} processor; median (least…greatest)")
    results = []
    for what in SIZES:
        of = list(runs_of(what, programs, args.rounds, hogging, procs, args.ms))
        print_table([[what, "alone, ms", "beside, ms", "beside / alone"], *map(row_of, of)])
        print(flush=True)
        results += of
    print(f"  beside / alone of work that is divided at will: {procs / (procs - 0.5):.2f}\n", flush=True)

    asked = types.SimpleNamespace(build=[build], connections=args.connections, seconds=args.ms / 1000)
    echoes = in_rounds(args.rounds, hogging, lambda: echo.run(folder / "echo", "light", procs, asked))
    print_table(echo_rows(echoes))
    if args.json:
        env = environment.describe(versions(build), load)
        settings = {"rounds": args.rounds, "ms": args.ms, "hog": args.hog, "connections": args.connections}
        args.json.write_text(json.dumps({"schema": 1, "environment": env, "settings": settings, "results": results, "echo": echoes},
                                        indent=1) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/neighbour/run.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
