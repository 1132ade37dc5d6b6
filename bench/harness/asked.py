"""Programs that are asked what calls take, one question after another: harness/asked.hpp."""

import contextlib
import select
import subprocess

from harness import measure

TIMEOUT = 60  # seconds of an answer


class Program:
    def __init__(self, file, procs):
        self.command = [str(file), str(procs)]
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def ns(self, kind, n):
        """Nanoseconds of one call."""
        asked = f"{kind} {n}"
        with contextlib.suppress(BrokenPipeError):  # it has ended, and what follows says how
            self.process.stdin.write(asked + "\n")
            self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], TIMEOUT)[0]:
            raise measure.Failed(f"no answer to {asked} within {TIMEOUT} s: {measure.in_words(self.command)}")
        answer = self.process.stdout.readline()
        if not answer:
            raise measure.Failed(f"ended when asked {asked}: {measure.in_words(self.command)}\n{self.process.stderr.read()}")
        with measure.making_sense_of(self.command):
            return float(answer)


def ask(programs, kind, n, rounds):
    """{program: the nanoseconds of each round}; every second round asks them in the other order."""
    found = {name: [] for name in programs}
    for i in range(rounds):
        for name in programs if i % 2 == 0 else reversed(programs):
            found[name].append(programs[name].ns(kind, n))
    return found
