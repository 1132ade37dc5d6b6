"""forkjoin-trace: makes a trace readable.

    forkjoin-trace run [-o FILE] PROGRAM args...   runs a program that uses the library, with its trace in FILE (default: PROGRAM.trace),
                                                   and prints the summary
    forkjoin-trace summary FILE [FILE]             what happened, in about ten lines; with two traces also what takes longer in the second
    forkjoin-trace page FILE [-o OUT.html]         one page, which needs neither network nor server
    forkjoin-trace perfetto FILE [-o OUT]          the trace as JSON, for ui.perfetto.dev

No program needs to be built for it. FORKJOIN_TRACE=FILE in the environment of any program also writes a trace. The exit status of run is the
program's own, or 1 if that is 0 and there is no trace; that of the others is 1 if a file cannot be read."""

import argparse
import os
import pathlib
import shlex
import signal
import subprocess
import sys

import page
import perfetto
import summary
from reader import Failed, File
from story import Story

PAGE_EVENTS = 400_000  # more make a page slow


def story_of(path):
    return Story(File(path))


def say(lines):
    for line in lines:
        print(line)


def ended(command, file):
    """Runs the command until it ends, and returns its status. Meanwhile SIGTERM and SIGHUP go on to it, as a service manager sends them. The
    terminal sends SIGINT and SIGQUIT to both; the program alone answers. So a server that is ended has its summary. The handlers stand before
    the program starts, since it may be known to run, and be ended, before Popen has returned; what comes so early waits until then."""
    program, early = None, []

    def pass_on(number, _):
        program.send_signal(number) if program else early.append(number)

    for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, pass_on if number in (signal.SIGTERM, signal.SIGHUP) else lambda *_: None)
    program = subprocess.Popen(command, env={**os.environ, "FORKJOIN_TRACE": str(file)})
    for number in early:
        program.send_signal(number)
    return program.wait()


def identity(file):
    """Of the file that now has that name, or None: the library puts a new file in its place."""
    try:
        found = file.stat()
        return found.st_dev, found.st_ino, found.st_mtime_ns
    except FileNotFoundError:
        return None


def status_of(ended):
    """As a shell has it."""
    return ended if ended >= 0 else 128 - ended


def name_of_signal(number):
    try:
        return signal.Signals(number).name
    except ValueError:  # one of those for real time
        return f"signal {number}"


def beside(trace, suffix):
    """The name of a file that is made of a trace: t.trace gives t.html, and t.trace.2 and t.123 keep what tells them from others."""
    return trace.with_suffix(suffix) if trace.suffix == ".trace" else trace.with_name(trace.name + suffix)


def run(args):
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise Failed("run: which program?")
    file = args.output or pathlib.Path(pathlib.Path(command[0]).name + ".trace")
    if "%p" in str(file):
        raise Failed(f"{file}: the library puts the number of the process in the place of %p; name a file without it by -o")
    before = identity(file)
    if before:
        try:
            File(file)
        except Failed:
            raise Failed(f"{file} is there already, and is no trace; name another file by -o") from None
    try:
        status = ended(command, file.absolute())
    except OSError as error:
        raise Failed(f"cannot run {command[0]}: {error.strerror}") from None
    if identity(file) in (before, None):
        how = f"was ended by {name_of_signal(-status)} and wrote no trace" if status < 0 else (
            f"ended with status {status} and wrote no trace: it made no runtime, or its environment was not that of this command")
        print(f"forkjoin-trace: {command[0]} {how}", file=sys.stderr)
        return status_of(status) or 1
    say(summary.lines(story_of(file)))
    print(f"forkjoin-trace page {shlex.quote(str(file))} makes a page of it")
    return status_of(status)


def summarize(args):
    if len(args.file) > 2:
        raise Failed("summary takes one trace, or two to compare")
    stories = [story_of(file) for file in args.file]
    for story in stories:
        say(summary.lines(story))
    if len(stories) == 2:
        say(summary.compared(*stories))


def make_page(args):
    story = story_of(args.file)
    if len(story.file.events) > PAGE_EVENTS:
        raise Failed(f"{args.file} has {len(story.file.events):,} events, more than a page shows well; forkjoin-trace perfetto {shlex.quote(str(args.file))} makes a "
                     f"file for ui.perfetto.dev, and FORKJOIN_TRACE_EVENTS a smaller trace")
    out = args.output or beside(args.file, ".html")
    out.write_text(page.made(story), encoding="utf-8", errors="replace")
    print(out)


def export(args):
    story = story_of(args.file)
    out = args.output or beside(args.file, ".perfetto.json")
    with open(out, "w", encoding="utf-8", errors="replace") as file:
        perfetto.write(story, file)
    print(out)


def parser():
    parser = argparse.ArgumentParser(prog="forkjoin-trace", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="run | summary | page | perfetto")
    for name, what in (("run", run), ("summary", summarize), ("page", make_page), ("perfetto", export)):
        command = commands.add_parser(name)
        command.set_defaults(does=what)
        if name == "run":
            command.add_argument("-o", "--output", type=pathlib.Path)
            command.add_argument("command", nargs=argparse.REMAINDER)
        elif name == "summary":
            command.add_argument("file", type=pathlib.Path, nargs="+")
        else:
            command.add_argument("file", type=pathlib.Path)
            command.add_argument("-o", "--output", type=pathlib.Path)
    return parser


def main():
    for stream in sys.stdout, sys.stderr:
        stream.reconfigure(errors="replace")  # a file's name may be no text
    try:
        try:
            args = parser().parse_args()
            return args.does(args) or 0
        finally:  # also after --help
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end
        return 1
    except (Failed, OSError) as failure:
        print(f"forkjoin-trace: {failure}", file=sys.stderr)
        return 1
