"""One page of a profile: page.html with the profile's data in it."""

import html
import json
import pathlib
import re

import table


def made(profile, measured, procs, theft_is_measured, title):
    data = {
        "title": title, "summary": [*table.summary(profile, theft_is_measured), *table.too_short(profile)], "procs": procs,
        "work": profile.work, "span": profile.span, "burdened": profile.burdened, "forks": profile.forks, "fork": profile.fork,
        "sites": [{"name": site.name, "file": site.file, "is_fork": site.is_fork, "forks": site.forks, "own": site.own,
                   "before": site.before_forks, "after": site.after_joins, "on_span": site.on_span, "twice": site.saved_twice,
                   "free": site.saved_free, "parallelism": site.parallelism, "outermost": site.outermost}
                  for site in table.by_span(profile)],
        "measured": [[procs, took] for procs, took in ((1, measured.on_one), (2, measured.on_two)) if took] if measured else [],
        "ceiling": measured.ceiling if measured else None,
    }
    template = (pathlib.Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")  # a name may have "</script>" or "<!--"
    parts = {"<!-- title -->": html.escape(title), "/* data */null": text}
    return re.sub("|".join(map(re.escape, parts)), lambda found: parts[found[0]], template)
