"""Builds and runs a program whose steps are to be shown, and prints them: run.py --build DIR PROGRAM [size] [options]

PROGRAM is one of bench/steps/programs, or a file of your own that is made like those (bench/steps/program.hpp). `./dev steps`
calls this."""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import show

ROOT = pathlib.Path(__file__).parents[2]
PROGRAMS = sorted(file.stem for file in (ROOT / "bench/steps/programs").glob("*.cpp"))


def ninja(build, *arguments):
    return subprocess.run(["ninja", "-C", build, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


def built(build, target):
    if subprocess.run(["ninja", "-C", build, target], stdout=subprocess.PIPE, text=True).returncode != 0:
        sys.exit(f"steps: {target} was not built; ninja -C {build} {target} says why")


def of_users(build, source, to):
    """Compiles a file as programs/fib.cpp is compiled, and links it with what that is linked with."""
    built(build, "bench/steps_fib")
    commands = ninja(build, "-t", "commands", "bench/steps_fib").splitlines()
    compiles = shlex.split(next(line for line in commands if line.endswith("steps/programs/fib.cpp")))
    links = shlex.split(commands[-1])
    thing = str(to / "program.o")
    own = {compiles[-1]: str(source.resolve()), compiles[compiles.index("-o") + 1]: thing,
           links[links.index("-o") + 1]: str(to / "program")}
    keeps = [word for at, word in enumerate(compiles) if not (word in ("-MD",) or word == "-MQ" or word == "-MF" or
                                                             compiles[at - 1] in ("-MQ", "-MF"))]
    for command in keeps, links:
        if subprocess.run([own.get(word, word) for word in command], cwd=build).returncode != 0:
            sys.exit(f"steps: {source} was not compiled")
    return to / "program"


def main():
    parser = argparse.ArgumentParser(prog="./dev steps", description="What each P holds after each step of a small program, from a "
                                     "run of the real workers, one of which acts at a time.")
    parser.add_argument("--build", default="build", help=argparse.SUPPRESS)
    parser.add_argument("program", help=f"{', '.join(PROGRAMS)}, or a file of your own: bench/steps/README.md")
    parser.add_argument("size", nargs="?", type=int, help="its size, such as 4 for fib(4)")
    parser.add_argument("--procs", type=int, default=2, help="the number of Ps (2)")
    parser.add_argument("--policy", choices=["continuations", "tasks"], default="continuations", help="what is pushed")
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--seed", type=int, help="chooses the worker that acts next (1)")
    who.add_argument("--script", type=pathlib.Path, help='a file with the Ps that act: "1 2 1+2" are three rows, the last of two acts')
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="tables in Markdown")
    form.add_argument("--html", type=pathlib.Path, metavar="FILE", help="a page with a slider, into FILE")
    form.add_argument("--json", action="store_true", help="all of it as JSON")
    chosen = parser.parse_args()
    source = pathlib.Path(chosen.program)
    if chosen.program not in PROGRAMS and not source.is_file():
        sys.exit(f"steps: no program {chosen.program}; there are: {' '.join(PROGRAMS)}; or name a file that has one")

    arguments = ["--procs", str(chosen.procs), "--policy", chosen.policy]
    if chosen.size is not None:
        arguments.insert(0, str(chosen.size))
    if chosen.script:
        arguments += ["--script", str(chosen.script)]
    elif chosen.seed is not None:
        arguments += ["--seed", str(chosen.seed)]
    with tempfile.TemporaryDirectory() as folder:
        if chosen.program in PROGRAMS:
            built(chosen.build, f"bench/steps_{chosen.program}")
            program = ROOT / chosen.build / "bench" / f"steps_{chosen.program}"
        else:
            program = of_users(ROOT / chosen.build, source, pathlib.Path(folder))
        ran = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        sys.exit(ran.returncode)
    steps = json.loads(ran.stdout)
    steps["title"] = " ".join(filter(None, [source.stem, str(chosen.size or "")]))
    steps["chosen_by"] = f"the script {chosen.script.name}" if chosen.script else f"seed {chosen.seed or 1}"
    if chosen.json:
        print(json.dumps(steps))
    elif chosen.html:
        chosen.html.write_text(show.page(steps))
        print(chosen.html)
    else:
        print(show.markdown(steps) if chosen.markdown else show.text(steps), end="")


if __name__ == "__main__":
    main()
