"""Puts simulated runs beside real ones: check.py --build build [kernel...]

Runs each kernel's DAG on the library itself (simulate_real) and in the simulation, at P = 1 and 2, under both policies,
and, where there is one, the kernel's own benchmark program (<kernel>_once). The work of the simulated steps and the cost
of a fork are taken from the real runs on one P; the rest is predicted. Exits with 1 if one P does not run continuations
in the serial order, or steals or stacks are not of the same order of magnitude; the latter only where two processors are free,
and of a DAG only from runs whose threads were on them ("on": how many, where the program tells).
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

SIZES = {"fib": 27, "nqueens": 9, "skynet": 100_000, "treesum": 200_000, "cilksort": 2_000_000, "lu": 256, "heat": 256}
# Of the kernels' own programs: long enough for a time, short enough for some minutes in all.
OWN_SIZES = {"fib": 32, "nqueens": 11, "skynet": 1_000_000, "uts": 4_130_071, "treesum": 3_000_000,
             "cilksort": 1_000_000, "lu": 1024, "cholesky": 1024, "matmul": 512, "strassen": 512, "heat": 512,
             "fft": 1 << 20, "quicksort": 1_000_000, "mandelbrot": 512, "integrate": 1000, "knapsack": 68, "rectmul": 512,
             "alignment": 40, "floorplan": 11, "health": 100, "sparselu": 40}
SHOWN = ["steals", "suspensions", "join_waits", "exposures", "wakeups", "peak_stacks"]


def lines(command):
    """The last `name value` of each name that the program prints."""
    text = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([\d.]+)$", text, re.M)}, text


def order_of(text):
    return re.search(r"^order (\d+)$", text, re.M).group(1)


def had_processors(run, procs):
    """Whether the threads of a run were on their processors most of the time; for programs that do not tell, taken so.

    A thread that is woken but not yet on a processor has everybody share for it and steals nothing: most of a run of some
    milliseconds may pass like that, also where two processors are free a moment before and after.
    """
    return run.get("processors", procs) >= 0.75 * procs


def runs_of(real_of, way, procs, count):
    """So many real runs: those whose threads were on their processors, of four times as many at most."""
    found = [real_of(way, procs) for _ in range(count)]
    while sum(had_processors(run, procs) for run in found) < count and len(found) < 4 * count:
        found.append(real_of(way, procs))
    return sorted(found, key=lambda run: -run.get("processors", procs))[:count]


def medians(runs):
    """Of each value over the runs; of times the least, which others on the machine disturbed least."""
    return {name: min(r[name] for r in runs) if name == "seconds" else statistics.median(r[name] for r in runs)
            for name in runs[0]}


def simulated(build, kernel, size, serial_ms, forks_ns, costs):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [build / "bench/simulate", kernel, "--size", size, "--procs", "1,2", "--json", file.name]
        command += ["--serial-ms", serial_ms] if serial_ms else []
        for name, ns in forks_ns.items():
            command += [f"--{name}", max(ns, 0)]
        lines(command + (["--costs", costs] if costs else []))
        found = json.load(open(file.name))
    rows = {(row["policy"], row["procs"]): dict(row, seconds=row["time_ns"] / 1e9) for row in found["runs"]}
    return found, rows


def two_processors(build):
    """Whether two programs run side by side about as fast as one alone."""
    command = [str(build / "bench/simulate_real"), "cilksort", "4000000", "serial", "1"]

    def slowest(count):
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
        texts = [program.communicate()[0] for program in running]
        return max(float(re.search(r"^seconds ([\d.]+)$", text, re.M).group(1)) for text in texts)

    return min(slowest(2) for _ in range(3)) < 1.3 * min(slowest(1) for _ in range(3))


def compare(kernel, real_of, sizes, args, once):
    """Prints the rows of one kernel; returns what is wrong. real_of(way, procs) is one real run."""
    serial = medians([real_of("serial", 1) for _ in range(args.runs)])["seconds"]
    real = {(way, procs): medians(runs_of(real_of, way, procs, args.runs))
            for way in ("continuations", "tasks") for procs in (1, 2)}
    size = sizes[kernel]
    size = 0 if kernel == "uts" else size
    forks = simulated(args.build, kernel, size, None, {}, args.costs)[0]["forks"]
    forks_ns = {option: (real[way, 1]["seconds"] - serial) * 1e9 / forks
                for option, way in (("fork", "continuations"), ("fork-tasks", "tasks"))}
    _, rows = simulated(args.build, kernel, size, serial * 1e3, forks_ns, args.costs)
    wrong = []
    for (way, procs), seen in real.items():
        guess = rows[way, procs]
        faster = real[way, 1]["seconds"] / seen["seconds"], rows[way, 1]["seconds"] / guess["seconds"]
        cells = [f"{seen['processors']:4.2f}" if "processors" in seen else "   -", f"{faster[0]:5.2f} /{faster[1]:5.2f}"]
        for name in SHOWN:
            if name not in seen:
                cells.append(f"{'-':>12}")
                continue
            cells.append(f"{seen[name]:6.0f}/{guess[name]:5.0f}")
            # One order of magnitude, and some more where there is next to nothing.
            if name in ("steals", "peak_stacks") and had_processors(seen, procs) and not (
                    seen[name] / 10 - 20 <= guess[name] <= seen[name] * 10 + 20):
                wrong.append(f"{kernel} {way} P={procs}: {name} {seen[name]:.0f}, simulated {guess[name]:.0f}")
        print(f"{kernel:10} {once:4} {way:13} {procs}  {'  '.join(cells)}", flush=True)
    return wrong


def check_dag(kernel, args):
    orders = {}

    def real(way, procs):
        found, text = lines([args.build / "bench/simulate_real", kernel, SIZES[kernel], way, procs])
        orders[way, procs] = order_of(text)
        return found

    wrong = compare(kernel, real, SIZES, args, "dag")
    if orders["continuations", 1] != orders["serial", 1]:
        wrong.append(f"{kernel}: one P did not run continuations in the serial order")
    return wrong


def check_own(kernel, args):
    program = args.build / f"bench/{kernel}_once"
    if not program.exists() or kernel not in OWN_SIZES:
        return []
    return compare(kernel, lambda way, procs: lines([program, way, OWN_SIZES[kernel], procs])[0], OWN_SIZES, args, "own")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="kernel")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--runs", type=int, default=5, help="real runs: of times the least counts, of counters the median")
    parser.add_argument("--costs", help="JSON file that simulate_calibrate wrote")
    args = parser.parse_args()
    for kernel in args.kernels:
        if kernel not in SIZES | OWN_SIZES:
            parser.error(f"no kernel {kernel}; known are {' '.join(SIZES | OWN_SIZES)}")
    print("real / simulated; own: the kernel's program, dag: its simulated DAG on the library\n"
          f"{'kernel':10} {'':4} {'policy':13} P  {'on':>4}  {'faster':>12}  " + "  ".join(f"{name:>12}" for name in SHOWN))
    wrong = []
    judged = two_processors(args.build)
    for kernel in args.kernels or SIZES | OWN_SIZES:
        if kernel in SIZES:
            wrong += check_dag(kernel, args)
        wrong += check_own(kernel, args)
    for line in wrong:
        print(line)
    if not judged or not two_processors(args.build):
        print("not judged: there are no two processors, or others use them, so real runs on P = 2 say little")
        wrong = [line for line in wrong if "serial order" in line]
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
