"""forkjoin-races: finds the determinacy races of a program over forkjoin, in one run.

    forkjoin-races [--cxx CXX] FILE... [options of the compiler] [-- arguments...]

Compiles the sources of one program for the race detector, runs it once, serially, and prints each race: two accesses that some schedule
could run in either order. A word that begins with - is an option of the compiler, such as -O2 or -I folder; without an option the level is
-O1. The arguments of the program follow after --.

The exit status is 66 if there was a race, 1 if the program could not be compiled, otherwise the program's own."""

import argparse
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile


class Failed(Exception):
    pass


# Options whose value may be the next word.
BEFORE_A_VALUE = {"-I", "-D", "-U", "-L", "-l", "-x", "-T", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-Xlinker", "-arch", "-target"}


def parser(program="forkjoin-races"):
    _, usage, *described = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(prog=program, allow_abbrev=False, description="\n\n".join(described),
                                     usage=usage.strip().replace("forkjoin-races", "%(prog)s"), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cxx", default="g++", help="the compiler (g++)")
    return parser


def flags():
    if not shutil.which("pkg-config"):
        raise Failed("pkg-config is not installed")
    done = subprocess.run(["pkg-config", "--cflags", "--libs", "forkjoin-races"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    return shlex.split(done.stdout)


def ended(command):
    """Runs the program, and returns its status. Signals that end it leave this process to remove the folder: the terminal sends SIGINT and
    SIGQUIT to both, SIGTERM and SIGHUP go on to the program. What comes before Popen has returned waits until then."""
    program, early = None, []

    def pass_on(number, _):
        program.send_signal(number) if program else early.append(number)

    for number in signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, pass_on if number in (signal.SIGTERM, signal.SIGHUP) else lambda *_: None)
    program = subprocess.Popen(command)
    for number in early:
        program.send_signal(number)
    status = program.wait()
    return status if status >= 0 else 128 - status


def run(cxx, words, arguments):
    """Sources and options in the order in which they were given, so that a library can come after what needs it."""
    if not shlex.split(cxx):
        raise Failed("--cxx names no compiler")
    sources = [word for before, word in zip(["", *words], words) if not word.startswith("-") and before not in BEFORE_A_VALUE]
    if not sources:
        raise Failed("takes the sources of a program")
    for source in sources:
        if not pathlib.Path(source).is_file():
            raise Failed(f"there is no file {source}")
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/program"
        if subprocess.run([*shlex.split(cxx), "-std=c++20", "-O1", *words, *flags(), "-o", program]).returncode != 0:
            raise Failed("the program does not compile")
        if not os.access(program, os.X_OK):
            raise Failed("the compiler has made no program: leave out -o and what ends the compilation early, such as -c")
        return ended([program, *arguments])


def main():
    program = os.environ.pop("FORKJOIN_RACES_AS", "forkjoin-races")
    words, arguments = sys.argv[1:], []
    if "--" in words:
        cut = words.index("--")
        words, arguments = words[:cut], words[cut + 1:]
    for stream in sys.stdout, sys.stderr:
        stream.reconfigure(errors="replace")  # a file's name may be no text
    try:
        try:
            args, words = parser(program).parse_known_args(words)
        finally:  # also after --help
            sys.stdout.flush()
        return run(args.cxx, words, arguments)
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end
        return 1
    except KeyboardInterrupt:  # during the compilation
        return 130
    except (Failed, OSError, ValueError) as failure:  # the last one: quotes in --cxx that do not close
        print(f"{program}: {failure}", file=sys.stderr)
        return 1
