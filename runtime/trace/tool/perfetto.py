"""The trace as JSON that Perfetto's UI opens, and other viewers of Chrome's traces: an object for each event, in the Trace Event Format.

A lane is a thread there: one for each P, one for each strand. A slice (ph X) has its begin and its length in microseconds. A theft is two
slices without a length, that of the victim with flow_out and that of the thief with flow_in, and the same bind_id: the UI draws an arrow.
Slices come before what is at the same moment without a length, as a reader takes events of one moment in the file's order."""

import bisect
import json

PROCS, STRANDS = 1 << 23, 1 << 24  # numbers of lanes; that of a process is below


def write(story, out):
    out.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
    out.write(",\n".join(json.dumps({"pid": story.file.pid} | event) for event in events(story)))
    out.write("\n]}\n")


def events(story):
    def us(at):
        return round(max(at - story.begin, 0)) / 1000

    def slice_at(lane, name, begin, end, **more):
        return {"ph": "X", "tid": lane, "name": name, "ts": us(begin), "dur": round(us(end) - us(begin), 3), **more}

    def count(name, at, value):
        return {"ph": "C", "tid": PROCS, "name": name, "ts": us(at), "args": {"number": value}}

    def lane(of, name):
        return {"ph": "M", "tid": of, "name": "thread_name", "args": {"name": name}}

    yield {"ph": "M", "tid": PROCS, "name": "process_name", "args": {"name": f"forkjoin, {story.procs} P"}}
    for proc in range(story.procs):
        yield lane(PROCS + proc, f"P {proc}")
    for strand in story.strands:
        of, name = STRANDS + strand.number, story.told(strand.name)
        yield lane(of, f"{strand.number} {name}")
        for run in strand.runs:
            if run.end > run.begin:
                told = {"args": {"thread": story.file.threads[run.thread].name}}
                yield slice_at(of, name, run.begin, run.end, **told)
                if run.proc < story.procs:
                    yield slice_at(PROCS + run.proc, name, run.begin, run.end, **told)
        begins = [run.begin for run in strand.runs]
        for wait in strand.waits:
            before = bisect.bisect_right(begins, wait.begin)
            begin = max(wait.begin, strand.runs[before - 1].end) if before else wait.begin  # it runs on for a moment, until it has left
            end = wait.end if wait.end is not None else story.end
            if end > begin and wait.why != "fj::blocking":
                yield slice_at(of, f"waits: {wait.why}", begin, end)
    for number, steal in enumerate(story.steals, 1):
        if steal.victim_proc < story.procs:
            yield slice_at(PROCS + steal.victim_proc, "stolen from", steal.at, steal.at, bind_id=f"{number:x}", flow_out=True)
        if steal.strand.runs and steal.strand.runs[0].proc < story.procs:
            run = steal.strand.runs[0]
            yield slice_at(PROCS + run.proc, "steal", run.begin, run.begin, bind_id=f"{number:x}", flow_in=True)
    for mark in story.marks:
        if mark.proc < story.procs:
            yield {"ph": "i", "s": "t", "tid": PROCS + mark.proc, "name": f"{mark.kind} {mark.text}".strip(), "ts": us(mark.at)}
    for begin, _, number in story.busy_procs():
        yield count("busy P", begin, number)
    for at, number in story.ready_strands():
        yield count("ready strands", at, max(number, 0))  # fewer only in a damaged trace
