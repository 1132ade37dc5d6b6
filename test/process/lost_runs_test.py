"""lost_runs.py, by which ./dev test --part lost runs other tests, fails for a program that loses a fiber, also one that another program runs, and
for no other: lost_runs_test.py <lost_runs.py> <lost_fibers_test>. Tried with a wrapper that reads the program's standard output."""

import os
import subprocess
import sys

_, wrapper, program = sys.argv


def run(*command):
    done = subprocess.run([sys.executable, wrapper, *command], env=os.environ | {"FORKJOIN_LOST": "1", "FORKJOIN_LOST_MS": "1"}, text=True,
                          stdout=subprocess.PIPE, timeout=100)
    print(*command, done.returncode, done.stdout)
    return done


if run(program, "waits").returncode == 77:
    sys.exit(77)  # not available here
assert run(program, "waits").returncode == 0
assert run("sh", "-c", "exit 3").returncode == 0
assert run("sh", "-c", "exit 77").returncode == 77
assert run("sh", "-c", "kill -SEGV $$").returncode == 1
assert run("sh", "-c", "echo 'watchdog: \"x\" with P = 1 hangs' >&2; exit 1").returncode == 1
for command in [program, "lost"], ["sh", "-c", '"$0" lost || exit 5', program]:
    done = run(*command)
    assert done.returncode == 1 and "1 fiber is lost" in done.stdout and "one_waits" in done.stdout
