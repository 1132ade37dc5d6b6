"""./dev bench --virtual and --space: they measure, write what the report reads, and say in their first and last lines that the machine
was busy. ./dev bench --trees has the same figures twice. virtual_test.py BUILD

Tried without print_disturbances in the last lines of --space, and in the first of --virtual: told_busy fails."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
BUILD = sys.argv[1]


def run(what, *arguments, busy=True):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "figures.json"
        kept = pathlib.Path(BUILD) / "bench" / f"{what}.json"
        before = kept.read_bytes() if kept.exists() else None
        try:
            command = [sys.executable, ROOT / "bench" / what / "run.py", "--build", BUILD, "--json", file, *arguments]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=500).stdout
            if busy:
                told_busy(output)
        finally:  # a test is not worth showing
            kept.write_bytes(before) if before is not None else kept.unlink(missing_ok=True)
        return json.loads(file.read_text())


def told_busy(output):
    lines = output.splitlines()
    for text, when in (lines[:2], "before"), (lines[-4:], "during"):
        assert any(re.match(rf"WARNING: the machine looks busy: others used \d+\.\d\d cores {when}", line) for line in text), output


# Other programs beside all of it.
with contextlib.ExitStack() as others:
    for _ in range(len(os.sched_getaffinity(0))):
        other = others.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
        others.callback(other.kill)
    virtual = run("virtual", "--procs", "3", "--rounds", "1", "--leaves", "32", "--leaf-us", "300", "--check")
    space_rows = run("space", "--procs", "3", "--runs", "1", "--leaf-us", "20")["results"]
shapes = {r["shape"] for r in virtual["results"]}
assert shapes == {"even", "uneven", "heavy root", "mergesort", "reduction", "heavy branches", "larger first", "larger second", "chain",
                  "mirrored chain", "4 children", "8 children", "64 children"}, shapes
for r in virtual["results"]:
    assert len(r["seconds"]) == 1 and r["over_bound"]["median"] > 0, r
    if r["way"] != "oneTBB":
        # Of 31 joins at most; each wait whose lateness is known is in one of six classes.
        assert 0 <= r["waits"]["median"] <= 1000 and len(r["joins_late"]) == 6 and sum(r["joins_late"]) <= 31, r
# The simulator runs the same trees by our six policies; without it there is nothing.
if (pathlib.Path(BUILD) / "bench/simulate").exists():
    for r in virtual["simulated"]:
        assert (r["procs"], r["leaves"]) == (3, 32) and r["vs_continuations"]["rounds"] == 9 and r["waits"] <= 1000, r
    assert len(virtual["simulated"]) == 13 * 6
    adaptive, adaptive_again = (run("trees", "--adaptive", "--trees", "2", "--seeds", "1", "--no-shapes", busy=False) for _ in range(2))
    assert adaptive["trees"] == adaptive_again["trees"] and len(adaptive["trees"]) == 2, adaptive
    for tree in adaptive["trees"]:
        assert tree["over_fastest"] >= max(tree["over_continuations"], tree["over_last_leave"]) > 0, tree
    flat, flat_again = (run("trees", "--flat", "--leaves", "64", "--seeds", "1", busy=False)["flat"] for _ in range(2))
    assert flat == flat_again and {(row["nodes"], row["procs"]) for row in flat} == {(nodes, p) for nodes in (1, 32) for p in (8, 16, 64)}, flat
    assert all(row["continuations"]["times"]["median"] == 1 and row["tasks"]["times"]["median"] > 0 for row in flat), flat
    first, again = (run("trees", "--trees", "2", "--seeds", "1", "--no-shapes", busy=False) for _ in range(2))
    assert [first[name] == again[name] for name in ("trees", "distributions", "worst")] == [True] * 3
    assert [row["way"] for row in first["distributions"] if row["procs"] == 8] == ["tasks", "first_top", "first_leap", "last_leave", "last_leap"]
    assert all(row["rounds"] == 2 and row["min"] <= row["median"] <= row["max"] for row in first["distributions"])
    assert all(0 < row["deviations"]["value"] <= 2 for row in first["worst"])
assert len(virtual["checked"]) == len(virtual["results"])  # no bound of time: the machine may be busy

space = {(r["shape"], r["leaf_us"], r["n"], r["procs"], r["way"]): r for r in space_rows}
many = {way: space["loop", 20, 10_000, 1, way] for way in ("continuations", "tasks")}
assert many["tasks"]["records"] == 10_000  # one P, and no thief: all of them
assert many["continuations"]["records"] == 1
assert many["tasks"]["kib"]["median"] > 2 * many["continuations"]["kib"]["median"]
# Leaves that sleep let thieves take the rest of the chain at each fork; of the mirrored chain they take leaves.
stacks = {(shape, way): space[shape, 20, 10_000, 3, way]["stacks"]["median"] for shape in ("chain", "mirrored")
          for way in ("continuations", "tasks")}
assert stacks["chain", "continuations"] > 1000 > 100 > stacks["chain", "tasks"], stacks
assert stacks["mirrored", "tasks"] > 100 > stacks["mirrored", "continuations"], stacks
assert "over_serial" in space["chain", 20, 10_000, 3, "continuations"] and "over_serial" not in space["chain", 20, 10_000, 1, "serial"]
