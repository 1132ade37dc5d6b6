"""forkjoin-profile: work, span and parallelism of a program over forkjoin, as a whole and by line, and its time on any number of Ps.

    forkjoin-profile [options] PROGRAM.cpp [arguments...]

Compiles the program as a profile, which runs serially, and runs it several times. Compiles it as an ordinary program, too, and runs that on
one P and on two. The program must do the same each time. What it prints is dropped."""

import argparse
import os
import pathlib
import shlex
import sys
import tempfile

import measure
import page
import table
from model import Failed

MEASURE_SECONDS = 20
MOST_PROCS = 1_000_000


def parser(program="forkjoin-profile"):
    parser = argparse.ArgumentParser(prog=program, description=__doc__.split("\n\n", 2)[2].replace("\n", " "),
                                     usage="%(prog)s [options] PROGRAM.cpp [arguments...]")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs with the profile (5); each strand counts as its shortest")
    parser.add_argument("--procs", type=int, default=8, metavar="P", help="for how many Ps to predict what changes of a line would do (8)")
    parser.add_argument("--long", action="store_true", help="a table with every line that forks, and with every power of two")
    parser.add_argument("--html", type=pathlib.Path, metavar="FILE", help="also write a page, into FILE")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write the profile itself, into FILE")
    parser.add_argument("--dag", type=pathlib.Path, metavar="FILE", help="also write the graph of forks, which ./dev bench --simulate runs on any number of Ps, into FILE")
    parser.add_argument("--cxx", default="g++", help="the compiler (g++)")
    parser.add_argument("--flags", default="", help="more flags for it, such as '-O3 -march=native other.cpp -lm'")
    parser.add_argument("--profile-only", action="store_true", help="do not compile and run the ordinary program")
    parser.add_argument("source", type=pathlib.Path, metavar="PROGRAM.cpp")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def say(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def run(args):
    if not args.source.is_file():
        raise Failed(f"there is no file {args.source}")
    if args.repeat < 1 or not 1 <= args.procs <= MOST_PROCS:
        raise Failed(f"--repeat takes a number from 1 on, and --procs one from 1 to {MOST_PROCS:,}")
    try:
        flags, _ = shlex.split(args.flags), shlex.split(args.cxx)
    except ValueError as error:
        raise Failed(f"--flags or --cxx: {error}") from None
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        say("compiling")
        twin = measure.compile_with("forkjoin-profile", args.cxx, flags, [args.source], folder / "profiled")
        theft, fork, is_measured = measure.costs(args.cxx, folder)
        profile = measure.profiled(measure.Program(twin, args.arguments), folder, args.repeat, theft, say, args.dag)
        profile.fork = fork
        if args.json:
            args.json.write_bytes((folder / "profile.json").read_bytes())
        measured, why_not = None, ""
        if not args.profile_only:
            say("compiling the ordinary program")
            ordinary = measure.compile_with("forkjoin", args.cxx, flags, [args.source], folder / "ordinary")
            try:
                measured = measure.Measured(measure.Program(ordinary, args.arguments), measure.Program(folder / "costs", ["compute"]), MEASURE_SECONDS, say)
            except measure.OwnProcs as own:
                why_not = str(own)
        say("")
    for line in table.lines(profile, measured, args.procs, is_measured, args.long):
        print(line)
    if why_not:
        print(why_not)
    if args.html:
        title = " ".join([args.source.name, *args.arguments])
        args.html.write_text(page.made(profile, measured, args.procs, is_measured, title), encoding="utf-8", errors="replace")
        print(args.html)


def main():
    program = os.environ.get("FORKJOIN_PROFILE_AS", "forkjoin-profile")
    for stream in sys.stdout, sys.stderr:
        stream.reconfigure(errors="replace")  # a file's name may be no text
    try:
        try:
            run(parser(program).parse_args())
            return 0
        finally:  # also after --help
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end
        return 1
    except (Failed, OSError) as failure:
        say("")
        print(f"{program}: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("")
        return 130
