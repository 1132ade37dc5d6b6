"""Grades an answer to a lab of forkjoin/guide/course.md: grade.py LAB ANSWER [--build DIR] [-- COMPILER...]

LAB is steps, race, bounds, steal_rule or lateness; ANSWER a copy of that lab's start, with your changes. Says what does not hold yet, and
ends with status 1, or says `passed`.
"""

import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COMPILED = {"race": "hpp", "steal_rule": "hpp", "lateness": "hpp"}  # each by its grade.cpp


class NotYet(Exception):
    pass


def expect(holds, what):
    if not holds:
        raise NotYet(what)


# --- steps ---


def rows_of(build, folder, size, policy, script):
    """The rows of a run of fib(size) on two Ps, as ./dev steps shows them."""
    file = folder / "script.txt"
    file.write_text(script)
    ran = subprocess.run([sys.executable, ROOT / "bench/steps/run.py", "--build", build, "fib", str(size), "--policy", policy,
                          "--script", file, "--json"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect(ran.returncode == 0, f"{policy}, script {script}: {ran.stderr.strip()}")
    return json.loads(ran.stdout)["rows"]


GIVEN = "1 1 2 1 2 2 1 2"


def grade_steps(answer, build):
    lines = [line for line in answer.read_text().splitlines() if line.strip() and not line.startswith("#")]
    given = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for policy in "continuations", "tasks":
            rows = rows_of(build, folder, 3, policy, GIVEN)[:len(GIVEN.split())]
            right = [" ".join(str(len(holds["deque"])) for holds in row["procs"]) for row in rows]
            said = [" ".join(pair.split()) for pair in given[f"deques by {policy}"].split(",")]
            for number, (row, mine) in enumerate(zip(right, said + ["nothing"] * len(right)), 1):
                expect(row == mine, f"deques by {policy}, row {number}: {mine}; ./dev steps says otherwise")
        rows = rows_of(build, folder, 4, "continuations", given["script in which three wait"])
        waiting = [{call for holds in row["procs"] for calls in holds["waiting"] for call in calls} for row in rows]
        wanted = {f"{call} (join point)" for call in ("main", "fib(4)", "fib(3)")}
        expect(any(wanted <= at for at in waiting), "script in which three wait: in no row main, fib(4) and fib(3) all wait at joins")
        rows = rows_of(build, folder, 4, "tasks", given["script in which T1 works on top"])
        before = ["main (join point)"]
        expect(any(row["procs"][0]["stack"][:1] == before and len(row["procs"][0]["stack"]) > 1 and
                   any(what.startswith("T1 ") and "steals" in what for what in row["what"]) for row in rows),
               "script in which T1 works on top: T1 steals nothing while its stack has main at its join")


# --- bounds ---


def grade_bounds(answer, build):
    spec = importlib.util.spec_from_file_location("answer", answer)
    mine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mine)
    for kernel in "mergesort", "heavy_root", "reduction":
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "runs.json"
            subprocess.run([pathlib.Path(build) / "bench/simulate", kernel, "--procs", "1", "2", "4", "16", "64", "--policy",
                            "continuations", "--start", "awake", "--json", file], stdout=subprocess.DEVNULL, check=True)
            told = json.loads(file.read_text())
        work, span = told["work_ns"], told["span_ns"]
        worth = mine.worth(work, span)
        expect(work / span <= worth <= work / span + 1.01, f"{kernel}: {worth:.1f} P are worth having; not what the bound says")
        for run in told["runs"]:
            procs, time = run["procs"], run["time_ns"]
            least, most = mine.least(work, span, procs), mine.most(work, span, procs)
            where = f"{kernel} on {procs} P: {time / 1e6:.3f} ms"
            expect(least <= time * 1.001, f"{where}, less than `least`: {least / 1e6:.3f} ms")
            expect(time <= most * 1.02, f"{where}, more than `most`: {most / 1e6:.3f} ms")
            expect(most <= 2 * least, f"{where}: `most` is more than twice `least`; a better pair is known")
            # The forks cost something, which work and span do not count: 2 %.
            expect(procs > worth or work / (procs * time) >= 0.49, f"{where}: {procs} P are busy for less than half of that")


# --- answers in C++ ---


def grade_compiled(lab, answer, build, compiler):
    with tempfile.TemporaryDirectory() as name:
        program = pathlib.Path(name) / "grade"
        made = subprocess.run([*compiler, "-O1", "-Wall", "-Wextra", f'-DANSWER="{answer}"',
                               HERE / lab / "grade.cpp", "-o", program, pathlib.Path(build) / "runtime/libforkjoin.a",
                               "-lboost_context", "-lpthread"], text=True, stderr=subprocess.PIPE)
        expect(made.returncode == 0, f"it does not compile:\n{made.stderr}")
        ran = subprocess.run([program], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        expect(ran.returncode == 0, (ran.stdout + ran.stderr).strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("lab", choices=["steps", "race", "bounds", "steal_rule", "lateness"])
    parser.add_argument("answer", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="where the library is built (build)")
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    chosen = parser.parse_args(sys.argv[1:at])
    compiler = sys.argv[at + 1:] or ["g++", "-std=c++20", f"-I{ROOT}", "-DFORKJOIN_STATIC"]
    answer = chosen.answer.resolve()
    try:
        if chosen.lab in COMPILED:
            grade_compiled(chosen.lab, answer, chosen.build, compiler)
        else:
            {"steps": grade_steps, "bounds": grade_bounds}[chosen.lab](answer, chosen.build)
    except NotYet as why:
        print(f"not yet: {why}")
        sys.exit(1)
    print("passed")


if __name__ == "__main__":
    main()
