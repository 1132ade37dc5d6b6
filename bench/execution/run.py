#!/usr/bin/env python3
"""C++26's senders, started from outside: this library's scheduler beside the pool of NVIDIA's stdexec, and plain loops.

    bench/execution/run.py --build build [--procs 1,2] [--kinds schedule:1,bulk:1000] [--rounds N] [--json FILE]

Each program has one process for all kinds. A round asks each of them once for each kind and length: a series of calls of about 20 ms. The
table has the nanoseconds of a call, the ratio of ours to that of stdexec's pool in the same round, and of the serial loop's to ours. Each
figure is the median of the rounds, with the least and the greatest.
"""

import argparse
import contextlib
import json
import pathlib
import sys

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from harness import asked, environment, measure  # noqa: E402
from harness.figures import Figure  # noqa: E402
from harness.tables import print_disturbances, print_table, show  # noqa: E402
from peers.programs import versions  # noqa: E402

PROGRAMS = ("serial", "forkjoin", "stdexec")
KINDS = [("schedule", 1), ("bulk", 1000), ("bulk_unchunked", 1000), ("bulk_chunked", 1000), ("bulk", 100_000), ("bulk_chunked", 1_048_576),
         ("skewed", 20_000)]


def over(found, one, other):
    """A summary of the rounds' ratios; None where one of both does not take part."""
    if one not in found or other not in found:
        return None
    return Figure(a / b for a, b in zip(found[one], found[other])).summary()


def told(ratio):
    return "-" if ratio is None else f"{ratio['median']:.2f} ({ratio['min']:.2f}…{ratio['max']:.2f})"


def kinds(text):
    return [(kind, int(n)) for kind, n in (word.split(":") for word in text.split(","))]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--procs", type=lambda text: [int(word) for word in text.split(",")], default=[1, 2])
    parser.add_argument("--kinds", type=kinds, default=KINDS, metavar="KIND:N,...")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", type=pathlib.Path, help="also writes the figures of each round there")
    args = parser.parse_args()
    if min(args.rounds, *args.procs, *(n for _, n in args.kinds)) < 1:
        parser.error("--rounds, --procs and lengths must be above 0")
    return args


def main():
    args = parse()
    folder = args.build.resolve() / "bench"
    files = {name: folder / f"execution_{name}" for name in PROGRAMS}
    if missing := [file.name for file in files.values() if not file.is_file()]:
        raise measure.Failed(f"{folder} has no {', '.join(missing)}: ./dev bench execution --stdexec FOLDER builds them")
    machine = environment.Conditions()
    print_disturbances(machine.before)
    results = []
    for procs in args.procs:
        with contextlib.ExitStack() as stack:
            programs = {name: stack.enter_context(asked.Program(file, procs)) for name, file in files.items()}
            rows = [["kind", "n", *PROGRAMS, "ours over stdexec's", "serial over ours"]]
            for kind, n in args.kinds:
                found = asked.ask({name: programs[name] for name in PROGRAMS if (kind, name) != ("schedule", "serial")}, kind, n, args.rounds)
                results.append({"kind": kind, "n": n, "procs": procs, "ns": found, "over_stdexec": over(found, "forkjoin", "stdexec"),
                                "serial_over": over(found, "serial", "forkjoin")})
                rows.append([kind, f"{n:,}", *(show(Figure(found[name])) if name in found else "-" for name in PROGRAMS),
                             told(results[-1]["over_stdexec"]), told(results[-1]["serial_over"])])
            print(f"\nP = {procs}; ns of a call")
            print_table(rows)
            sys.stdout.flush()
    env = machine.describe(versions(args.build.resolve()))
    print_disturbances(env)
    if args.json:
        args.json.write_text(json.dumps({"schema": 1, "environment": env, "settings": {"rounds": args.rounds}, "results": results},
                                        indent=1) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"bench/execution/run.py: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
