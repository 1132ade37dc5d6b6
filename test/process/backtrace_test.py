"""A backtrace from anywhere in a runtime ends cleanly: in the first frame of its stack, without a
warning from the debugger. Without the marks of an outermost frame in runtime/os/ gdb goes on into frames that do not exist, or
says that it stopped.

backtrace_test.py <program>
"""

import re
import shutil
import subprocess
import sys

# The place where the program stops, the functions that must be seen there first, and the library's function that must be seen
# last. A child has no caller: the function that forked it may have gone on and returned.
ON_CHILDS_STACK = r"forkjoin_v0_4_call_on_stack|fj::v0_4::detail::os::\(anonymous namespace\)::first_frame"
ON_FIBERS_STACK = r"fj::v0_4::detail::os::\(anonymous namespace\)::first_frame"
PLACES = {
    "job": (["leaf", "stop_in_job"], ON_FIBERS_STACK),
    "child": (["leaf"], ON_CHILDS_STACK),
    "child_without_parent": (["leaf"], ON_CHILDS_STACK),
    "stolen_parent": (["leaf", "stop_in_stolen_parent"], ON_FIBERS_STACK),
    "own_thief": (["leaf", "stop_in_own_thief"], ON_FIBERS_STACK),
    "branch": (["leaf"], ON_FIBERS_STACK),
}


def backtrace(program, place):
    gdb = ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-iex", "set auto-load off",
           "-iex", "set disable-randomization off"]
    gdb += ["-ex", "break stop_here", "-ex", "run", "-ex", "backtrace", "--args", program, place]
    done = subprocess.run(gdb, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


def complaints(place, said):
    wanted, end = PLACES[place]
    frames = re.findall(r"^#(\d+) +(?:0x[0-9a-f]+ in )?(.*?) \(", said, re.MULTILINE)
    names = [name.removeprefix("(anonymous namespace)::") for _, name in frames]
    if names[: 1 + len(wanted)] != ["stop_here", *wanted]:
        yield f"does not begin with stop_here, {', '.join(wanted)}"
    if any(re.fullmatch(r"stop_in_\w+", name) and name not in wanted for name in names):
        yield "goes on with the function that forked"
    if "??" in names:
        yield "has a frame that is none"
    if not names or not re.fullmatch(rf"({end})(\(.*\))?", names[-1]):
        yield f"does not end in {end}"
    if warning := re.search(r"^Backtrace stopped.*", said, re.MULTILINE):
        yield warning.group()


if not shutil.which("gdb"):
    print("gdb is not installed: not checked")
    sys.exit(77)
wrong = False
for place in PLACES:
    said = backtrace(sys.argv[1], place)
    if re.search(r"ptrace: |[Cc]ould not trace", said):
        print(said, "\ngdb may not trace here: not checked")
        sys.exit(77)
    found = list(complaints(place, said))
    print(f"--- {place}: {'; '.join(found) or 'ends well'}\n{said}")
    wrong = wrong or bool(found)
sys.exit(wrong)
