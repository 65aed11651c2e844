#!/usr/bin/env python3
"""The driver on a page that does everything a report must not do: each must be seen, or the test of
reports would pass whatever they do."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "peer"))
# pylint: disable=wrong-import-position
import browser
import png
from peer import Tap, scratch, skip

if not browser.find():
    skip("Chromium is not installed: ./check --browser installs it")

PAGE = """<!doctype html><meta charset=utf-8><title>Title</title>
<style>:root{color-scheme:light dark}</style>
<section id=a><h1>Text</h1><a id=link download="rows.csv" href="data:text/csv,a,b">rows</a></section>
<section id=empty style="height:50px"></section>"""

BAD = {"console error: seen": "console.error('seen')",
       "exception: Error: thrown": "setTimeout(() => { throw new Error('thrown') })",
       "dialog: asked": "setTimeout(() => alert('asked'))",
       "request: http://192.0.2.1/": "new Image().src = 'http://192.0.2.1/'"}

tap = Tap()
with scratch() as folder, browser.Browser() as chromium:
    path = os.path.join(folder, "page.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PAGE)
    page = chromium.open(path)
    tap.ok("a page that does nothing has no problems", page.problems() == [], page.problems())
    tap.ok("values come back", page.evaluate("document.title") == "Title")
    tap.ok("promises are awaited", page.evaluate("Promise.resolve([1.5, 'x'])") == [1.5, "x"])
    tap.ok("loading is timed", 0 < page.timing() < 20000, page.timing())
    before = page.work()
    page.evaluate("{ let sum = 0; const end = performance.now() + 50;"
                  " while (performance.now() < end) sum += Math.sqrt(sum) }")
    tap.ok("a page's work is counted", 0 < before < page.work(), (before, page.work()))
    light = png.statistics(page.screenshot("#a"))
    tap.ok("text is seen on white", light[1] > 3 and light[0] < 1 and light[2] > 200, light)
    page.dark(True)
    dark = png.statistics(page.screenshot("#a"))
    tap.ok("dark is dark", dark[1] > 3 and dark[2] < 60, dark)
    tap.ok("an empty element is blank", png.statistics(page.screenshot("#empty"))[1] == 1)
    got = page.download("document.querySelector('#link').click()")
    tap.ok("a link's file is saved", got == ("rows.csv", b"a,b"), got)
    tap.ok("a PDF is printed", page.pdf().startswith(b"%PDF-"))
    for problem, script in BAD.items():
        page = chromium.open(path)
        page.evaluate(f"{script}; 0")
        page.settle()
        found = page.problems()
        tap.ok(f"seen: {problem}", any(one.startswith(problem) for one in found), found)
    for name, script in (("a value that is none", "missing"), ("a page without an end",
                                                                "new Promise(() => 0)")):
        try:
            chromium.open(path).evaluate(script, timeout=1)
            tap.ok(f"refused: {name}", False)
        except browser.BrowserError:
            tap.ok(f"refused: {name}", True)
tap.finish()
