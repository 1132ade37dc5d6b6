"""HTML: tables whose cells keep the exact value beside the rounded one, figures, and the frame of a page."""

from html import escape

from harness.tables import short
from report import svg

STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--faint:#5c636d;--line:#dfe3e8;--paper:#fff;--band:#f5f6f8;--link:#0063a5;
--warn:#8a4b00;--good:#00694d;--bad:#a63c00}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--faint:#a4abb5;--line:#3a4049;--paper:#16181c;--band:#1e2126;
--link:#6cbcf2;--warn:#f0b34a;--good:#4fd1a5;--bad:#ff9a5c}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:76rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:break-word}
h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}h2{font-size:1.3rem;margin:2.5rem 0 .5rem;border-top:1px solid
var(--line);
padding-top:1rem}h3{font-size:1.05rem;margin:1.5rem 0 .3rem}
p,ul,ol{max-width:46rem}a{color:var(--link)}nav ul{display:flex;flex-wrap:wrap;gap:.3rem
1.1rem;padding:0;list-style:none;
max-width:none}.faint{color:var(--faint)}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));gap:1.2rem;margin:1rem 0}
.plots figure{margin:0;max-width:27rem}svg.plot{display:block;width:100%;height:auto}
.scroll{overflow-x:auto;margin:1rem 0}.scroll:focus-visible{outline:2px solid var(--link)}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.22rem .6rem;border-bottom:1px solid var(--line);text-align:right;vertical-align:baseline}
thead th{font-weight:600;white-space:normal;vertical-align:bottom;background:var(--band);max-width:9rem}
tbody th,.left{text-align:left;font-weight:400}td.long{text-align:left;min-width:12rem;overflow-wrap:anywhere}
tbody th,td{white-space:nowrap}td.long{white-space:normal}
@media(max-width:40rem){tbody th{white-space:normal;min-width:8rem}}
.warnings{border-left:4px solid var(--warn);padding:.1rem 1rem;margin:1rem 0;background:var(--band)}
.met{color:var(--good)}.missed{color:var(--bad);font-weight:600}
summary{cursor:pointer}
"""


def value(number, text=None):
    """A cell, or a figure in a sentence."""
    if number is None:
        return "–"
    if text is None:
        text = f"{number:,}" if isinstance(number, int) else f"{number:,.0f}" if abs(number) >= 1000 else short(number)
    return f'<data value="{number!r}">{escape(text)}</data>'


def mib(size):
    return "–" if size is None else value(size / 2**20)


def spread(summary):
    if not summary:
        return "–"
    if summary["min"] == summary["max"]:
        return value(summary["median"])
    return f'{value(summary["median"])} <span class="faint">({value(summary["min"])}…{value(summary["max"])})</span>'


def table(caption, head, rows, left=1):
    """rows: lists of markup. The first cell heads its row; so many columns are aligned to the left."""
    if not rows:
        return ""
    used = [i for i in range(len(head)) if i < left or any(row[i] != "–" for row in rows)]
    side = ["left" if i < left else "" for i in range(len(head))]
    heads = "".join(f'<th scope="col" class="{side[i]}">{head[i]}</th>' for i in used)
    body = "".join("<tr>"
                   + "".join(f'<th scope="row">{row[i]}</th>' if i == 0 else f'<td class="{side[i]}">{row[i]}</td>'
                                    for i in used) + "</tr>" for row in rows)
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
            f"<caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>")


def plots(found):
    found = [p for p in found if p]
    if not found:
        return ""
    return '<div class="plots">' + "".join(f"<figure>{p.svg()}</figure>" for p in found) + "</div>"


def words(names):
    """a, b and c"""
    names = [escape(n) for n in names]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1] if names else "none"


def section(name, title, *parts):
    return f'<section id="{name}"><h2>{title}</h2>' + "".join(parts) + "</section>"


def page(title, links, *parts):
    """links: [(address, text)]"""
    nav = "".join(f'<li><a href="{escape(address)}">{escape(text)}</a></li>' for address, text in links)
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
            '<meta name="viewport" content="width=device-width, initial-scale=1"/><link rel="icon" href="data:,"/>'
            f"<title>{escape(title)}</title><style>{STYLE}{svg.style()}</style></head>"
            f"<body><header><h1>{escape(title)}</h1>"
            f'<nav aria-label="Contents"><ul>{nav}</ul></nav></header><main>{"".join(parts)}</main></body></html>\n')
