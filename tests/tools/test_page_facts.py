#!/usr/bin/env python3
"""tools/page-facts: what it prints of a page. Prints TAP."""
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/page-facts"
PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8"><title>t</title></head><body><h1>Title</h1>
<main><section id="findings"><h2>Findings <a class="permalink" href="#findings">#</a></h2><ul>
<li>Two &lt; three. <a href="#f-1">Figure 1</a></li></ul></section>
<section id="f"><h2>Values</h2><figure id="f-1"><p class="heading">values of T</p>
<svg><title>v</title><desc>y over x; 2 marks</desc><g class="over">
<g class="line c0" data-series="0"><path class="mark" d="M0 0"/><g class="hits">
<circle r="6"><title>curve
x: 3
y: 9.5</title></circle><circle r="6"><title>curve
x: 1
y: -2</title></circle><circle r="6"><title>curve
x: 2
y: 4</title></circle></g></g>
<g class="points c1"><path class="mark"><title>dots
y: 1e-5
of: a word</title></path></g></g>
<g class="entry"><text>curve<title>curve</title></text></g></svg>
<figcaption><a class="permalink" href="#f-1">Figure 1</a> A caption.<div class="links">
<a class="rows">CSV: 3 rows</a></div></figcaption></figure>
<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></section>
<section id="data"><h2>Data</h2><details><summary><code>t</code>: 3 rows, 2 columns, 4 kB here</summary></details>
</section></main></body></html>"""
FACTS = """page 'Title'
section findings: Findings
  finding: Two < three.
section f: Values
  figure 'values of T' 'y over x; 2 marks'
    caption: A caption.
    line c0 'curve': 3
      x: 1 .. 3, in [1, 3]
      y: -2 .. 9.5, in [-2, 9.5]
    points c1 'dots / of: a word': 1
      y: 1e-05 .. 1e-05, in [1e-05, 1e-05]
  table of 1 rows: a, b
section data: Data
  t: 3 rows, 2 columns
"""


def facts(page):
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place, "page.html")
        path.write_text(page, encoding="utf-8")
        return subprocess.run([sys.executable, TOOL, "page", path], capture_output=True, text=True, check=True).stdout


def changed(old, new):
    assert old in PAGE
    return facts(PAGE.replace(old, new)) != FACTS


CASES = [
    ("sections, findings, captions, series and tables", lambda: facts(PAGE) == FACTS),
    ("a value counts", lambda: changed("y: 9.5", "y: 9.6")),
    ("a caption counts", lambda: changed("A caption.", "Another.")),
    ("a missing place counts", lambda: changed('<circle r="6"><title>curve\nx: 2\ny: 4</title></circle>', "")),
    ("a table's length in the page does not", lambda: not changed("4 kB here", "5 kB here")),
]


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, (name, holds) in enumerate(CASES, 1):
        fine = holds()
        failed += not fine
        print(f"{'ok' if fine else 'not ok'} {number} - {name}")
    if failed:
        print("".join(f"# {line}\n" for line in facts(PAGE).splitlines()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
