#!/usr/bin/env python3
"""Waits for MPI: what one costs whose request has completed, and how much of an exchange the work of the same P hides.

    bench/overlap/run.py --build build [--rounds N]

Two ranks with one P each, so each has a processor of its own where there are two. For 4 KB to 4 MB: each rank sends so much to the other one and
receives as much; a loop takes about as long; and both run as two branches of a fork. Each figure is rank 0's median of the rounds, with the
least and the greatest. A round makes a series of calls of about 20 ms for each.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

from harness import environment  # noqa: E402
from harness.tables import print_disturbances  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    if args.rounds < 1:
        parser.error("--rounds must be above 0")
    program = args.build.resolve() / "bench" / "overlap_mpi"
    if not program.is_file():
        sys.exit(f"{program.parent} has no {program.name}: it needs an MPI, as Debian's libopenmpi-dev with openmpi-bin")
    machine = environment.Conditions()
    print_disturbances(machine.before)
    is_open_mpi = b"libmpi.so" in subprocess.run(["ldd", program], capture_output=True, check=True).stdout
    names = ["mpirun.openmpi", "mpirun"] if is_open_mpi else ["mpirun.mpich", "mpirun"]
    mpirun = next((found for name in names if (found := shutil.which(name))), None)
    if not mpirun:
        sys.exit(f"no {names[0]}")
    options = ["--allow-run-as-root", "--oversubscribe"] if is_open_mpi else []
    return subprocess.run([mpirun, *options, "-n", "2", program, str(args.rounds)]).returncode


if __name__ == "__main__":
    sys.exit(main())
