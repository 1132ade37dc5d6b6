"""How well the profile predicts the time on two Ps: profile.py --build DIR [kernel...] [--rounds N] [--json FILE]

For each kernel with a cut-off it prints work and span from its profile, the minimum of five runs; beside them, in rounds that alternate, the
time on one P, on two Ps, and of two processes on one P each at the same time. Prediction and measurement are ratios to the time on one P; the
prediction is divided by what two processes get of two processors. Two processes of a kernel may get less than 0.9 of what two get that only
compute. Such kernels are limited by memory: they are listed, not judged. The exit status is 3 if another kernel is off by more than a tenth.
It is 4 if nothing is judged, because other programs had the processors: the program that only computes then takes longer on one P than its
work."""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "runtime/profile/tool"), str(ROOT / "bench")]
sys.dont_write_bytecode = True

from measure import ceiling, compile_with, costs  # noqa: E402
from model import Profile  # noqa: E402

CUT_OFF = ["alignment", "cholesky", "cilksort", "fft", "heat", "lu", "matmul", "quicksort", "rectmul", "sparselu", "strassen"]
OFF = 0.1
MEMORY = 0.9
PROFILE_RUNS = 5
BUSY = 1.25
COMPUTES = "alignment"  # its data fit into a first-level cache


def seconds(command, copies=1):
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(copies)]
    texts = [one.communicate()[0] for one in running]
    if any(one.returncode != 0 for one in running):
        sys.exit(f"{command[0]} failed")
    return [min(map(float, re.findall(r"(?m)^seconds (\S+)", text))) for text in texts]


class Kernel:
    def __init__(self, build, name, theft_ns, fork_ns):
        self.name, self.once = name, build / "bench" / f"{name}_once"
        self.size = json.loads(subprocess.run([self.once, "--list"], capture_output=True, text=True, check=True).stdout)[0]["quick"][0]["size"]
        self.profile = self.profiled(build / "bench" / f"{name}_profiled", theft_ns)
        self.profile.fork = fork_ns
        self.one, self.two, self.apart = [], [], []

    def profiled(self, program, theft_ns):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "profile"
            environment = {**os.environ, "FORKJOIN_PROFILE_OUT": str(out), "FORKJOIN_PROFILE_RUNS": f"{folder}/runs",
                           "FORKJOIN_PROFILE_THEFT_NS": str(theft_ns)}
            for _ in range(PROFILE_RUNS):
                subprocess.run([program, "continuations", str(self.size), "1"], env=environment, stdout=subprocess.DEVNULL, check=True)
            return Profile(out)

    def measure(self):
        command = [str(self.once), "continuations", str(self.size)]
        self.one += seconds([*command, "1", "2"])
        self.two += seconds([*command, "2", "2"])
        self.apart.append(seconds([*command, "1", "2"], 2))

    @property
    def ceiling(self):
        return ceiling(zip(self.one, self.apart))

    @property
    def measured(self):
        return statistics.median(two / one for one, two in zip(self.one, self.two))

    @property
    def predicted(self):
        return self.profile.time(2) / self.profile.time(1) * 2 / self.ceiling

    @property
    def off(self):
        return self.predicted / self.measured - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("kernels", nargs="*", metavar="kernel")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=pathlib.Path)
    chosen = parser.parse_args()
    names = chosen.kernels or CUT_OFF
    everything = names if COMPUTES in names else [*names, COMPUTES]
    subprocess.run(["ninja", "-C", chosen.build, "--quiet", *(f"bench/{name}_{kind}" for name in everything for kind in ("once", "profiled"))],
                   check=True)
    os.environ["PKG_CONFIG_PATH"] = str(chosen.build.resolve() / "meson-uninstalled")
    with tempfile.TemporaryDirectory() as folder:
        theft_ns, fork_ns, is_measured = costs("g++", pathlib.Path(folder))
    print(f"a theft takes {theft_ns:.0f} ns{'' if is_measured else ' (not measured)'}, a fork {fork_ns:.2f} ns")
    kernels = [Kernel(chosen.build, name, theft_ns, fork_ns) for name in everything]
    for _ in range(chosen.rounds):
        for kernel in kernels:
            kernel.measure()
    usual = next(kernel.ceiling for kernel in kernels if kernel.name == COMPUTES)
    row = "{:10} {:>9} {:>9} {:>9} {:>7} {:>9} {:>8} {:>8} {:>10} {:>9} {:>7}"
    print(row.format("", "size", "work ms", "span ms", "W/S", "one P ms", "work/it", "ceiling", "predicted", "measured", "off"))
    bad = []
    for kernel in kernels:
        profile, alone = kernel.profile, min(kernel.one) * 1e9
        is_memory = kernel.ceiling < MEMORY * usual
        print(row.format(kernel.name, kernel.size, f"{profile.work / 1e6:.2f}", f"{profile.span / 1e6:.3f}", f"{profile.parallelism:.0f}",
                         f"{alone / 1e6:.2f}", f"{profile.time(1) / alone:.3f}", f"{kernel.ceiling:.2f}", f"{kernel.predicted:.3f}",
                         f"{kernel.measured:.3f}", f"{100 * kernel.off:+.1f}%") + (" memory" if is_memory else ""))
        if abs(kernel.off) > OFF and not is_memory:
            bad.append(kernel.name)
    if chosen.json:
        chosen.json.write_text(json.dumps([{"kernel": kernel.name, "one": kernel.one, "two": kernel.two, "apart": kernel.apart,
                                            "work": kernel.profile.work, "span": kernel.profile.span, "burdened": kernel.profile.burdened}
                                           for kernel in kernels]))
    computes = next(kernel for kernel in kernels if kernel.name == COMPUTES)
    late = min(computes.one) * 1e9 / computes.profile.time(1)
    if late > BUSY:
        print(f"not judged: {COMPUTES} took {late:.2f} times its work on one P: other programs had the processors")
        return 4
    print(f"off by more than a tenth: {', '.join(bad)}" if bad else "none is off by more than a tenth")
    return 3 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
