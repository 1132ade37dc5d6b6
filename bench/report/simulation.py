"""Runs the simulator on what was measured: each problem's fork DAG, its work scaled to the measured serial time, a fork
at its measured cost, the rest at the costs that simulate_calibrate measures. A run is kept and used again as long as
nothing that went into it has changed."""

import concurrent.futures
import json
import os
import resource
import subprocess
import time

PROCS = [1, 2, 4, 16, 64, 256, 1024, 4096]
SEEDS = 3
FIRST = 64  # P at the most in the first run of a problem: a run with all PROCS takes some twenty times as long
BUDGET = 300  # seconds for all problems; those that take longer are left out
DISTURBED = 100  # times that others took a processor from the calibration, which then measures their time slices
UTS = {"T1": "uts", "T3": "uts_t3", "T1L": "uts_t1l", "T3L": "uts_t3l"}  # the simulator's kernels, by label


class Simulator:
    """program: the simulator; folder: where it keeps its runs; budget: seconds after which it is ended."""

    def __init__(self, program, folder, budget=BUDGET):
        self.program, self.folder = program, folder
        self.ends_at = time.monotonic() + budget
        self.costs = folder / "costs.json"
        listed = subprocess.run([program, "--list"], check=True, capture_output=True, text=True, timeout=60).stdout
        named = listed.partition("costs:")[0].splitlines()[1:]
        self.kernels = {line.split()[0] for line in named if line.split()}

    def arguments(self, data, problem, most):
        """For up to so many P. None if the simulator does not know the problem."""
        kernel, size = problem
        serial = data.result(problem, "serial", 1)
        if kernel == "uts":
            kernel, size = UTS.get(serial.get("label"), ""), 0
        if kernel not in self.kernels:
            return None
        arguments = [kernel, "--size", str(size), "--procs", ",".join(str(p) for p in PROCS if p <= most), "--start", "both", "--seeds", str(SEEDS)]
        if "median_ms" in serial:
            arguments += ["--serial-ms", f"{serial['median_ms']:.6g}"]
        for option, way in (("--fork", "continuations"), ("--fork-tasks", "tasks")):
            fork = data.result(problem, way, 1).get("ns_per_fork")
            if fork and fork["median"] > 0:
                arguments += [option, f"{fork['median']:.4g}"]
        return arguments

    def calibrate(self, say):
        """Measures costs once for each build, because other costs would make other runs. Without the program, or while other
        programs use the processors, it uses the simulator's own costs."""
        program = self.program.with_name("simulate_calibrate")
        if not program.exists():
            return
        if not self.costs.exists() or self.costs.stat().st_mtime < program.stat().st_mtime:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nivcsw
            done = subprocess.run([program], check=True, capture_output=True, text=True, timeout=BUDGET)
            json.loads(done.stdout)
            taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nivcsw - before
            if taken > DISTURBED:
                self.costs.unlink(missing_ok=True)
                return say(f"  other programs took the processors {taken:,} times from the measurement of costs: the simulator's "
                           "own costs are used, and the next report measures again")
            self.costs.write_text(done.stdout)

    def run(self, problem, most, arguments, say):
        """The simulator's output, with the problem as `of`; None if it took too long or failed."""
        kernel, size = problem
        name = f"{kernel}({size:,}), P up to {most:,}"
        file = self.folder / f"{kernel}-{size}-{most}.json"
        made_of = [*arguments, self.program.stat().st_mtime_ns]
        if self.costs.exists():
            arguments = [*arguments, "--costs", str(self.costs)]
            made_of.append(self.costs.read_text())
        try:
            kept = json.loads(file.read_text())
            if kept["made_of"] == made_of:
                say(f"  {name}: as before")
                return kept
        except (OSError, ValueError, KeyError):
            pass
        written = file.with_suffix(".part")
        left = self.ends_at - time.monotonic()
        try:
            if left <= 0:
                raise subprocess.TimeoutExpired(self.program, left)
            subprocess.run([self.program, *arguments, "--json", written], check=True, capture_output=True, text=True,
                           timeout=left)
        except subprocess.TimeoutExpired:
            written.unlink(missing_ok=True)
            say(f"  {name}: left out, the time is over")
            return None
        except subprocess.CalledProcessError as failed:
            say(f"  {name}: left out, the simulator failed: {failed.stderr.strip()}")
            return None
        found = json.loads(written.read_text()) | {"of": list(problem), "made_of": made_of,
                                                   "costs_measured": self.costs.exists()}
        written.unlink()
        file.write_text(json.dumps(found))
        say(f"  {name}")
        return found

    def run_all(self, data, say=print):
        self.folder.mkdir(parents=True, exist_ok=True)
        self.calibrate(say)
        # Those with few forks first, as a simulated fork takes about 100 ns in each of the runs.
        order = sorted(data.problems, key=lambda of: data.result(of, "continuations", 1).get("forks", 0))
        found = {}
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for most in (FIRST, PROCS[-1]):
                known = [(of, arguments) for of in order if (arguments := self.arguments(data, of, most))]
                runs = pool.map(lambda each: self.run(each[0], most, each[1], say), known)
                found |= {tuple(run["of"]): run for run in runs if run}
        if self.ends_at < time.monotonic():
            say("  the time was over; --simulate-for SECONDS gives more, and the next report goes on")
        return [found[tuple(of)] for of in data.problems if tuple(of) in found]
