"""The page of the peers: what bench/peers/run.py measured, kernel by kernel."""

import json

from harness.tables import short
from peers.tables import best_ways, verdict
from report.pages import NONE, Table, render, spread, value

PEERS = "peers.html"
TITLE = "Beside other libraries"


def read_peers(build):
    """None: nothing was measured beside peers."""
    file = build / "bench" / "peers.json"
    return json.loads(file.read_text()) if file.exists() else None


def problems(report):
    return list(dict.fromkeys((row["kernel"], row["procs"]) for row in report["results"]))


def caption(rows, procs):
    return f"{rows[0]['kernel']}({rows[0].get('label') or format(rows[0]['size'], ',')}) on {procs} P"


def rounds_of(row):
    return sum(ms is not None for ms in row["ms"])


def overview(report):
    """A row for each kernel and P: the best way of each peer over the serial program."""
    names = list(dict.fromkeys(row["peer"] for row in report["results"] if row["peer"] != "serial"))
    names.sort(key=lambda name: name != "forkjoin")
    best = best_ways(report["results"])
    rows = []
    for kernel, procs in problems(report):
        found = [best.get((kernel, procs, name)) for name in names]
        cells = [value(row["vs_serial"]["median"]) if row and "vs_serial" in row else NONE for row in found]
        rows.append([f"{kernel}, {procs} P", *cells])
    return Table("Time over the serial program's: the best way of each library", ["kernel", *names], rows)


def detail(report, kernel, procs):
    rows = [row for row in report["results"] if (row["kernel"], row["procs"]) == (kernel, procs)]
    cells = [[row["peer"], row["way"], value(row["median_ms"]), spread(row.get("vs_serial")), value(rounds_of(row)),
              row["built_by"]] for row in rows]
    return (Table(caption(rows, procs), ["library", "way", "median ms", "over serial", "rounds", "built by"], cells, left=2),
            verdict(rows, kernel, procs))


def peers_page(report, links):
    environment = report["environment"]
    about = [f"{name}: {environment[name] if not isinstance(environment[name], float) else short(environment[name])}"
             for name in ("date", "commit", "cpu", "cores", "kernel", "flags") if environment.get(name)]
    return render("peers.html", title=TITLE, pages=links, report=report, about=about, overview=overview(report),
                  details=[detail(report, *problem) for problem in problems(report)])
