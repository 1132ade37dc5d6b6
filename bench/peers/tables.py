"""What the rounds come to: rows for the JSON, and tables of them."""

from harness.figures import Figure, ratio
from harness.tables import print_table
from peers.programs import OURS, SERIAL


def median_of(figure):
    return figure.median if figure else None


def results(runner, programs, rounds, procs):
    """A row for each program and P, the fastest first. `behind`: our time over this one's, within the rounds, above 1 where
    this one is faster. Of our builds the faster one is compared."""
    serial = rounds.of(programs[0], 1)
    rows = []
    for p in procs:
        ours = [Figure(rounds.of(program, p)) for program in programs if program.peer == OURS]
        best = min((figure for figure in ours if figure), key=lambda figure: figure.median, default=None)
        for program in programs:
            ms = rounds.of(program, p)
            if not Figure(ms):
                continue
            row = {"kernel": runner.name, "size": runner.size, "peer": program.peer, "way": program.way,
                   "built_by": program.compiler, "procs": p, "ms": ms, "median_ms": Figure(ms).median}
            if runner.label:
                row["label"] = runner.label
            vs_serial = Figure(map(ratio, ms, serial))
            if vs_serial:
                row["vs_serial"] = vs_serial.summary()
            if program.peer not in (OURS, SERIAL) and best:
                behind = Figure(map(ratio, best.by_round, ms))
                if behind:
                    row["behind"] = behind.summary()
            rows.append(row)
    return sorted(rows, key=lambda row: (row["procs"], row["median_ms"]))


def best_ways(rows):
    """The fastest row of each peer, by kernel and P."""
    best = {}
    for row in rows:
        key = row["kernel"], row["procs"], row["peer"]
        if key not in best or row["median_ms"] < best[key]["median_ms"]:
            best[key] = row
    return best


def spread(summary):
    return f"{summary['median']:6.2f} ({summary['min']:.2f}…{summary['max']:.2f})" if summary else "–"


def verdict(rows, kernel, procs):
    """Whether ours is first, in words."""
    best = best_ways(rows)
    peers = [row for (k, p, peer), row in best.items() if (k, p) == (kernel, procs) and "behind" in row]
    if not peers:
        return None
    fastest = max(peers, key=lambda row: row["behind"]["median"])
    behind = fastest["behind"]
    who, what = f"{fastest['peer']} ({fastest['way']})", f"{behind['min']:.2f} to {behind['max']:.2f}"
    if behind["max"] < 1:
        return f"ours is first; next is {who}: {1 / behind['median']:.2f} times our time"
    if behind["min"] > 1:
        return f"ours is behind {who}: {behind['median']:.2f} times its time ({what})"
    return f"no significant difference between ours and {who}: {behind['median']:.2f} times its time ({what})"


def show(rows):
    for procs in dict.fromkeys(row["procs"] for row in rows):
        of = [row for row in rows if row["procs"] == procs]
        first = of[0]
        print(f"\n{first['kernel']}({first.get('label') or first['size']}) on {procs} P\n"
              f"  {'peer':10} {'way':18} {'median ms':>10}  {'over serial':>22} {'n':>3}  built by")
        for row in of:
            print(f"  {row['peer']:10} {row['way']:18} {row['median_ms']:10.2f}  {spread(row.get('vs_serial')):>22} "
                  f"{sum(ms is not None for ms in row['ms']):3}  {row['built_by']}")
        said = verdict(of, first["kernel"], procs)
        if said:
            print(f"  {said}")
    print(flush=True)


def league(rows, procs):
    """[(peer, mean ratio to the best, {kernel: row of its best way})], the least mean first; of the peers that have all kernels."""
    best = {(kernel, peer): row for (kernel, p, peer), row in best_ways(rows).items() if p == procs and peer != SERIAL}
    kernels = list(dict.fromkeys(kernel for kernel, _ in best))
    least = {kernel: min(row["median_ms"] for (k, _), row in best.items() if k == kernel) for kernel in kernels}
    found = []
    for peer in dict.fromkeys(peer for _, peer in best):
        own = {kernel: best[kernel, peer] for kernel in kernels if (kernel, peer) in best}
        found.append((peer, sum(row["median_ms"] / least[kernel] for kernel, row in own.items()) / len(own), own))
    return sorted(found, key=lambda each: (-len(each[2]), each[1]))


def show_league(rows, all_procs):
    """As the league's page: the mean is that of the ratios of a peer's times to the least of each program."""
    for procs in all_procs:
        found = league(rows, procs)
        kernels = list(dict.fromkeys(row["kernel"] for row in rows))
        sizes = {row["kernel"]: row["size"] for row in rows}
        table = [["peer", "mean ratio to best", *(f"{kernel}({sizes[kernel]}) ms" for kernel in kernels),
                  *(f"{kernel} MiB" for kernel in kernels)]]
        for peer, mean, own in found:
            whole = len(own) == len(kernels)
            table.append([peer, f"{mean:.2f}" if whole else f"{mean:.2f} of {len(own)}",
                          *(f"{own[k]['median_ms']:.1f}" if k in own else "-" for k in kernels),
                          *(f"{own[k]['peak_kib'] / 1024:.1f}" if "peak_kib" in own.get(k, {}) else "-" for k in kernels)])
        print(f"\non {procs} P, each peer's fastest way; memory: the peak of a process")
        print_table(table)
    print(flush=True)


def show_peers(report):
    for peer in report["peers"]:
        print(f"  {peer['name']:10} {peer['what']}")
    for warning in report["warnings"]:
        print(f"  WARNING: {warning}")
