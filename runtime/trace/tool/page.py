"""One page of a trace: page.html with the trace's data in it."""

import collections
import html
import json
import pathlib
import re

import summary

LONGEST = 15  # rows of a table
STATES = ("busy", "looking", "idle", "unknown")


def rows_of(strands, end):
    """A row for each strand so that no two of a row overlap in time: few rows."""
    free, rows = [], []
    for strand in strands:
        begin = min([strand.born, *(run.begin for run in strand.runs[:1])])
        last = strand.ended if strand.ended is not None else end
        at = next((i for i, until in enumerate(free) if until <= begin), len(free))
        if at == len(free):
            free.append(0)
        free[at] = last
        rows.append(at)
    return rows, len(free)


def data_of(story):
    names, kinds = {}, {}

    def index(of, name):
        return of.setdefault(name, len(of))

    base = story.begin

    def t(at):
        return -1 if at is None else round(at - base)

    strands = sorted(story.strands, key=lambda strand: strand.born)
    number = {strand: i for i, strand in enumerate(strands)}
    rows, row_count = rows_of(strands, story.end)
    ready = [[t(at), count] for at, count in story.ready_strands()]
    joins = sorted((wait for wait in story.waits if wait.why == "join"), key=lambda wait: -wait.lasted(story.end))[:LONGEST]
    vain = sorted(story.vain, key=lambda search: search.begin - search.end)[:LONGEST]
    places = collections.defaultdict(list)
    for wait in story.waits:
        if wait.why not in ("leaves",):
            places[wait.why].append(wait)
    run_index = {}
    runs = []
    for run in story.runs:
        run_index[run] = len(runs)
        runs.append([number[run.strand], run.proc if run.proc < story.procs else -1, t(run.begin), t(run.end), index(kinds, run.why),
                     [[t(begin), t(end), index(names, story.told(name))] for begin, end, name in run.tops],
                     index(kinds, story.file.threads[run.thread].name)])
    return {
        "title": pathlib.Path(story.file.path).name, "procs": story.procs, "end": t(story.end), "working": [t(at) for at in story.working], "lines": list(summary.lines(story)),
        "strands": [[index(names, story.told(strand.name)), strand.fiber, index(kinds, strand.kind), number[strand.parent] if strand.parent else -1,
                     t(strand.born), t(strand.ended), -1 if strand.stolen_from is None or strand.stolen_from >= story.procs else strand.stolen_from,
                     rows[i]] for i, strand in enumerate(strands)],
        "rows": row_count, "runs": runs,
        "waits": [[number[wait.strand], index(kinds, wait.why), t(wait.begin), t(wait.ready), t(wait.end),
                   number[wait.by] if wait.by else -1, wait.from_proc if wait.from_proc < story.procs else -1,
                   -1 if wait.to_proc is None or wait.to_proc >= story.procs else wait.to_proc]
                  for wait in sorted(story.waits, key=lambda wait: wait.begin)],
        "states": [[[t(begin), t(end), STATES.index(state)] for begin, end, state in states] for states in story.states],
        "steals": [[t(steal.at), -1 if steal.victim_proc >= story.procs else steal.victim_proc, steal.thief,
                    t(steal.strand.runs[0].begin) if steal.strand.runs else t(steal.at), number[steal.strand]]
                   for steal in story.steals if steal.thief < story.procs],
        "wakes": [[t(wake.at), -1 if wake.by_proc is None or wake.by_proc >= story.procs else wake.by_proc, wake.proc, t(wake.awake)]
                  for wake in story.wakes if wake.proc < story.procs],
        "marks": [[t(mark.at), mark.proc, index(kinds, mark.kind), mark.text] for mark in story.marks if mark.proc < story.procs],
        "private": [[[t(begin), t(end)] for begin, end in spans] for spans in story.idle_beside_private()],
        "vain": [[search.proc, round(search.end - search.begin), number[search.strand] if search.strand else -1, index(kinds, search.how),
                  t(search.begin)] for search in vain if search.proc < story.procs],
        "busy": [[t(begin), t(end), count] for begin, end, count in story.busy_procs()], "ready": ready,
        "sites": [[story.told(name), number_of, round(ran), round(waited)] for name, (number_of, ran, waited) in summary.sites(story).items()],
        "joins": [[number[wait.strand], round(wait.lasted(story.end)), t(wait.begin), number[wait.by] if wait.by else -1] for wait in joins],
        "places": sorted(([why, len(waits), round(sum(w.lasted(story.end) for w in waits)), round(max(w.lasted(story.end) for w in waits)),
                           t(max(waits, key=lambda w: w.lasted(story.end)).begin)] for why, waits in places.items()), key=lambda row: -row[2]),
        "names": list(names), "kinds": list(kinds),
    }


def made(story):
    template = (pathlib.Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    data = json.dumps(data_of(story), separators=(",", ":")).replace("<", "\\u003c")  # a name may have "</script>" or "<!--"
    parts = {"<!-- title -->": html.escape(pathlib.Path(story.file.path).name), "/* data */null": data}
    return re.sub("|".join(map(re.escape, parts)), lambda found: parts[found[0]], template)
