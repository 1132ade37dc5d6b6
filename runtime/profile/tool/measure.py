"""Compiles a program as a profile and ordinarily, and runs both."""

import json
import os
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import time

from model import Failed, Profile

HERE = pathlib.Path(__file__).resolve().parent
BUSY_THEFT_NS = 10_000  # more is no theft's cost, but that of a thief that has no processor
USUAL_THEFT_NS = 1000
JOBS = re.compile(r"forkjoin: the runtime lived for .* and had jobs for ([\d.,]+(?:e[+-]?\d+)?) (us|ms|s), on (\d+) P", re.MULTILINE)
UNITS = {"us": 1e3, "ms": 1e6, "s": 1e9}


class OwnProcs(Exception):
    """The program does not leave the number of Ps to FORKJOIN_PROCS."""


def pkg_config(*words):
    if not shutil.which("pkg-config"):
        raise Failed("pkg-config is not installed")
    done = subprocess.run(["pkg-config", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    return shlex.split(done.stdout)


def compile_with(package, cxx, flags, sources, to):
    own = [*shlex.split(cxx), "-std=c++20", "-O2", "-g", *pkg_config("--cflags", package), *flags, *map(str, sources)]
    done = subprocess.run([*own, *pkg_config("--libs", "--static", package), "-o", str(to)], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, sources))} was not compiled:\n{done.stderr}")
    return to


class Program:
    """A compiled program, with its arguments."""

    def __init__(self, path, arguments):
        self.command = [str(path), *arguments]

    def begin(self, **environment):
        return subprocess.Popen(self.command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, errors="replace")

    def end(self, process):
        _, errors = process.communicate()
        if process.returncode != 0:
            raise Failed(f"{shlex.join(self.command)} ended with status {process.returncode}\n{errors}")
        return errors

    def run(self, **environment):
        return self.end(self.begin(**environment))


def profiled(program, folder, runs, theft_ns, say, dag=None):
    """Runs it so many times; each run knows the earlier ones, and the last one tells of all, and has its graph of forks written into `dag`."""
    out = folder / "profile.json"
    environment = {"FORKJOIN_PROFILE_OUT": str(out), "FORKJOIN_PROFILE_THEFT_NS": str(theft_ns)}
    if runs > 1:
        environment["FORKJOIN_PROFILE_RUNS"] = str(folder / "runs")
    for number in range(runs):
        say(f"run {number + 1} of {runs}, with the profile")
        is_last = number == runs - 1
        errors = program.run(**environment, **({"FORKJOIN_PROFILE_DAG": str(dag.resolve())} if dag and is_last else {}))
        if not out.exists():
            raise Failed(f"{shlex.join(program.command)} wrote no profile: it does not call fj::run and forks nowhere, or it ended by _exit")
    if re.search("^forkjoin-profile: the program ends inside of fj::run", errors, re.MULTILINE):
        raise Failed(f"{shlex.join(program.command)} ended inside of fj::run, so the work of that call is not known; let it return first")
    if refused := re.search("^forkjoin-profile: FORKJOIN_PROFILE_DAG: (.*)$", errors, re.MULTILINE):
        raise Failed(refused[1])
    return Profile(out)


def nanoseconds_of_jobs(errors, procs):
    """For how long the program's runtimes had jobs, by what FORKJOIN_STATS=1 prints. The number may have a comma, as the program's locale has."""
    found = JOBS.findall(errors)
    if others := sorted({int(count) for *_, count in found} - {procs}):
        raise OwnProcs(f"not measured on one P and on two: the program has made a runtime of {' and one of '.join(map(str, others))} by its own options")
    return sum(float(time.replace(",", ".")) * UNITS[unit] for time, unit, _ in found)


def ceiling(rounds):
    """Of rounds of a time alone and the times of two at once."""
    return min(2.0, statistics.median(sum(alone / each for each in both) for alone, both in rounds))


class Measured:
    """An ordinary build: on one P, on two, and two of them at once on one P each. Beside it a program that only computes, and two of that."""

    def __init__(self, program, computes, seconds, say):
        def jobs(procs, copies=1):
            environment = {"FORKJOIN_PROCS": str(procs), "FORKJOIN_STATS": "1"}
            return [nanoseconds_of_jobs(program.end(one), procs) for one in [program.begin(**environment) for _ in range(copies)]]

        def computed(copies):
            return [float(computes.end(one).split()[-1]) for one in [computes.begin() for _ in range(copies)]]

        self.alone, self.two, self.apart = [], [], []  # by rounds; of the last one pairs
        self.computed = []                             # by rounds: of one alone, and of two
        has_two = len(os.sched_getaffinity(0)) > 1
        deadline = time.monotonic() + seconds
        while len(self.alone) < 3 or (len(self.alone) < 15 and time.monotonic() < deadline):
            say(f"round {len(self.alone) + 1}, the ordinary program")
            self.alone += jobs(1)
            if has_two:
                self.two += jobs(2)
                self.apart.append(jobs(1, copies=2))
                self.computed.append((computed(1)[0], computed(2)))
        if not any(self.alone):
            raise Failed(f"{shlex.join(program.command)} calls no fj::run")

    @property
    def on_one(self):
        return min(self.alone)

    @property
    def on_two(self):
        return min(self.two) if self.two else None

    @property
    def ceiling(self):
        """What two programs at once get of two processors, in times of what one gets: the sum of their speeds. By rounds, as the machine
        changes from round to round."""
        return ceiling(zip(self.alone, self.apart)) if self.two else None

    @property
    def of_processors(self):
        """The same of two programs that only compute: what the machine's second processor is worth."""
        return ceiling(self.computed) if self.two else None

    @property
    def two_over_one(self):
        """The time on two P by that on one, by rounds."""
        return statistics.median(two / alone for alone, two in zip(self.alone, self.two)) if self.two else None


def costs(cxx, folder):
    """Nanoseconds of a theft, which may not be measurable, and of a fork; and whether the theft's was measured."""
    program = Program(compile_with("forkjoin", cxx, [], [HERE / "costs.cc"], folder / "costs"), [])
    done = subprocess.run(program.command, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise Failed(f"a program that measures what a theft costs ended with status {done.returncode}\n{done.stderr}")
    told = json.loads(done.stdout)
    is_measured = len(os.sched_getaffinity(0)) > 1 and told["theft_ns"] < BUSY_THEFT_NS
    return max(told["theft_ns"], 0.0) if is_measured else USUAL_THEFT_NS, told["fork_ns"], is_measured
