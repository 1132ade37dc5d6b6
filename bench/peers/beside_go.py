"""What talk.py, echo.py and handover.py share: cases that a program of ours and one of Go's of the same name run in turn."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

from harness import environment, measure
from peers import toolchains
from peers.programs import versions


def parse(doc, cases, rounds, **numbers):
    """The arguments of such a comparison; numbers: further options that take a number above 0, as name=(default, help)."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", help=f"of {', '.join(cases)} (default: all)")
    parser.add_argument("--build", action="append", type=pathlib.Path, help="build folder; give it once for each of several compilers "
                        "(default: build)")
    parser.add_argument("--procs", default="1,2", help="numbers of Ps (default: 1,2)")
    numbers = {"rounds": (rounds, "")} | numbers
    for name, (default, what) in numbers.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{what} (default: {default})".strip())
    parser.add_argument("--json", type=pathlib.Path, help="also writes the figures there")
    args = parser.parse_args()
    args.build = [build.resolve() for build in args.build or [pathlib.Path("build")]]
    wrong = set(args.case) - set(cases)
    if wrong:
        parser.error(f"no case {', '.join(sorted(wrong))}; there are: {', '.join(cases)}")
    args.case = args.case or list(cases)
    try:
        args.procs = [int(p) for p in args.procs.split(",")]
    except ValueError:
        parser.error("--procs takes numbers, as in 1,2")
    if min(args.procs + [getattr(args, name) for name in numbers]) <= 0:
        parser.error(f"--procs, {', '.join(f'--{name}' for name in numbers)} must be above 0")
    return args


def ours_and_go(builds, name):
    """Our program of that name in each build folder, and Go's; and what Go it is, or why it is left out, which it also prints."""
    programs = {build.name: build / "bench" / name for build in builds}
    for file in programs.values():
        if not file.is_file():
            raise measure.Failed(f"{file} is not there; ninja -C {file.parent.parent} bench/{name} builds it")
    folder = builds[0] / "bench" / "peers" / "go"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        go = toolchains.build_go(folder)
        programs["go"] = folder / name
    except toolchains.LeftOut as why:
        go = f"left out: {why}"
    print(f"go: {go}")
    return programs, go


def output(command, timeout):
    """What the program prints. Throws if it fails, or takes longer than that many seconds."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise measure.Failed(f"did not end within {timeout} s: {' '.join(command)}") from None
    if done.returncode != 0:
        raise measure.Failed(f"ended with status {done.returncode}: {' '.join(command)}\n{done.stderr}")
    return done.stdout


def in_turn(programs, rounds, run):
    """Of each program what run(program) returns, round by round: one after the other, in alternating order."""
    found = {name: [] for name in programs}
    for i in range(rounds):
        for name in sorted(programs, reverse=i % 2 == 1):
            found[name].append(run(programs[name]))
    return found


def compare(name, args, settings, measure_case):
    """Measures each case with each number of Ps by measure_case(programs, case, procs), which returns what the file of --json says of it
    (bench/schema.md). settings: the options that stand there, too."""
    programs, go = ours_and_go(args.build, name)
    results = [{"case": case, "procs": procs, **measure_case(programs, case, procs)} for case in args.case for procs in args.procs]
    if args.json:
        env = environment.describe(versions(args.build[0]), os.getloadavg()) | {"go": go}
        settings = {name: getattr(args, name) for name in settings}
        args.json.write_text(json.dumps({"schema": 1, "environment": env, "settings": settings, "results": results}, indent=1) + "\n")


def end(main, name):
    """Runs main, and ends with its status."""
    try:
        sys.exit(main())
    except measure.Failed as failure:
        print(f"{name}: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
