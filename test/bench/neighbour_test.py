"""./dev bench neighbour: every program runs alone and beside the hog, and the hog ends. neighbour_test.py BUILD"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[2]
BENCH = pathlib.Path(sys.argv[1]) / "bench"
PROCS = len(os.sched_getaffinity(0))
sys.path.insert(0, str(ROOT / "bench"))

from neighbour.run import hog  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "figures.json"
    subprocess.run([sys.executable, ROOT / "bench/neighbour/run.py", "--build", sys.argv[1], "--rounds", "1", "--ms", "50", "--connections",
                    "10", "--json", file], check=True, stdout=subprocess.DEVNULL, timeout=100)
    told = json.loads(file.read_text())

built = {name for name in ("forkjoin", "tbb", "omp") if (BENCH / f"neighbour_{name}").exists()}
assert {(r["what"], r["library"]) for r in told["results"]} == {(what, name) for what in ("fib", "loop", "sort") for name in built}
for r in told["results"]:
    assert r["procs"] == PROCS and r["ratio"]["rounds"] == 1 and r["ratio"]["median"] > 0, r
    assert all(len(rounds) == 1 and rounds[0] and min(rounds[0]) > 0 for rounds in (r["us"]["alone"], r["us"]["beside"])), r
assert all(len(rounds) == 1 and rounds[0]["rate"] > 0 for rounds in (told["echo"]["alone"], told["echo"]["beside"]))

# The hog computes on the one processor that it is told, and ends when its input does, as it does when the tool is killed.
# Tried without the thread that reads, and without the processor of its own.
program = BENCH / "neighbour_hog"
last = subprocess.Popen([program, str(PROCS - 1)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
try:
    assert last.stdout.readline() == "computes\n"
    assert os.sched_getaffinity(last.pid) == {max(os.sched_getaffinity(0))}
    time.sleep(0.1)
    assert last.poll() is None
    last.stdin.close()
    assert last.wait(timeout=60) == 0
finally:
    last.kill()


# Whatever happens beside it, the tool ends it. Tried with a hog that is ended only after success.
def children():
    return pathlib.Path("/proc/thread-self/children").read_text().split()


try:
    with hog(program, 0):
        assert len(children()) == 1
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
assert not children()
