#!/usr/bin/env python3
"""PNGs of a report, light and dark, for people to look at: one a section, or those of the elements named.
usage: screenshots.py [--width PX] [--most PX] REPORT.html OUT/ [ID[=NAME]...]       NAME-light.png, NAME-dark.png

A figure in a closed row is shown: its row is opened."""
import argparse
import json
import os

from browser import Browser

SECTIONS = "Array.from(document.querySelectorAll('section[id]'), section => section.id)"
OPEN_AROUND = """(() => {
    for (let at = document.getElementById(%s)?.closest("details"); at; at = at.parentElement.closest("details"))
        at.open = true;
})()"""


def main(at):
    os.makedirs(at.out, exist_ok=True)
    with Browser(timeout=120) as browser:
        for scheme in ("light", "dark"):
            page = browser.open(at.report, dark=scheme == "dark", width=at.width)
            for item in at.wanted or page.evaluate(SECTIONS):
                element, _, name = item.partition("=")
                page.evaluate(OPEN_AROUND % json.dumps(element))
                path = os.path.join(at.out, f"{name or element}-{scheme}.png")
                with open(path, "wb") as file:
                    file.write(page.screenshot(f"[id='{element}']", most=at.most))
                print(path)
            page.close()


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--width", type=int, default=1280, help="of the window, in pixels")
parser.add_argument("--most", type=int, default=8000, help="pixels from an element's top; what is below is cut")
parser.add_argument("report", metavar="REPORT.html")
parser.add_argument("out", metavar="OUT/")
parser.add_argument("wanted", metavar="ID[=NAME]", nargs="*")
main(parser.parse_args())
