#!/usr/bin/env python3
"""Counts the cache misses of one run on one P with cachegrind, for claims about the order in which memory is accessed.

    bench/misses.py treesum heat --build build [--ways serial,continuations,tasks] [--size N] [--json FILE]

Runs `<kernel>_once <way> <size> 1 2` and the same with one run. The difference is one run; the start and the input cancel out. The caches
are simulated, with the sizes of this machine's unless --d1 and --ll give others. Counted are misses of the first level (D1) and of the last
(LL). Without --size, the size is the kernel's for tests, or with --quick the least of its measured ones.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COUNTED = {"instructions": ("Ir",), "d1": ("D1mr", "D1mw"), "ll": ("DLmr", "DLmw")}


def fail(message):
    print(f"bench/misses.py: {message}", file=sys.stderr)
    sys.exit(1)


def once(binary, way, size, runs, caches):
    """{event: count} of the whole process."""
    with tempfile.NamedTemporaryFile(suffix=".cachegrind") as file:
        command = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--cachegrind-out-file={file.name}", *caches,
                   str(binary), way, str(size), "1", str(runs)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=1800)
        text = pathlib.Path(file.name).read_text()
    events, counts = re.search(r"^events: (.*)$", text, re.M), re.search(r"^summary: (.*)$", text, re.M)
    if done.returncode != 0 or not events or not counts:
        fail(f"{' '.join(command)} ended with status {done.returncode}\n{done.stdout}{done.stderr}")
    return dict(zip(events[1].split(), map(int, counts[1].split())))


def one_run(binary, way, size, caches):
    one, two = (once(binary, way, size, runs, caches) for runs in (1, 2))
    return {name: sum(two[e] - one[e] for e in events) for name, events in COUNTED.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", nargs="+")
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--ways", help="default: all of the kernel's except oneTBB's and OpenMP's")
    parser.add_argument("--size", type=int)
    parser.add_argument("--quick", action="store_true", help="the least of the measured sizes instead of the tests'")
    parser.add_argument("--d1", metavar="SIZE,WAYS,LINE", help="as cachegrind's --D1")
    parser.add_argument("--ll", metavar="SIZE,WAYS,LINE", help="as cachegrind's --LL")
    parser.add_argument("--json", metavar="FILE", help="default: <build>/bench/misses.json, which the report shows")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        fail("valgrind is not installed")
    folder = (pathlib.Path(args.build) / "bench").resolve()
    caches = [f"--{name}={value}" for name, value in (("D1", args.d1), ("LL", args.ll)) if value]
    found = []
    for kernel in args.kernel:
        binary = folder / f"{kernel}_once"
        if not os.access(binary, os.X_OK):
            fail(f"{binary} is not there; build it first")
        entry = json.loads(subprocess.run([binary, "--list"], check=True, capture_output=True, text=True).stdout)[0]
        size = args.size or min(s["size"] for s in entry["quick" if args.quick else "test"])
        ways = args.ways.split(",") if args.ways else [w for w in entry["ways"] if not w.startswith(("tbb", "omp"))]
        print(f"{kernel}({size}), one P, one run")
        print(f"  {'way':14} {'instructions':>15} {'D1 misses':>13} {'LL misses':>13}   over serial: D1, LL")
        serial = None
        for way in ways:
            got = one_run(binary, way, size, caches)
            serial = got if way == "serial" else serial
            over = [f"{got[n] / serial[n]:.2f}" if serial and serial[n] > 0 else "-" for n in ("d1", "ll")]
            print(f"  {way:14} {got['instructions']:15,} {got['d1']:13,} {got['ll']:13,}   {', '.join(over)}", flush=True)
            found.append({"kernel": kernel, "size": size, "way": way, **got})
    file = pathlib.Path(args.json) if args.json else folder / "misses.json"
    file.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
