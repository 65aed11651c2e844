#!/usr/bin/env python3
"""PNGs of a report, light and dark, for people to look at: one a section, or those of the figures named.
usage: screenshots.py REPORT.html OUT/ [ID[=NAME]...]       NAME-light.png, NAME-dark.png"""
import os
import sys

from browser import Browser

SECTIONS = "Array.from(document.querySelectorAll('section[id]'), section => section.id)"


def main(report, out, *wanted):
    os.makedirs(out, exist_ok=True)
    with Browser(timeout=120) as browser:
        for scheme in ("light", "dark"):
            page = browser.open(report, dark=scheme == "dark")
            for item in wanted or page.evaluate(SECTIONS):
                element, _, name = item.partition("=")
                path = os.path.join(out, f"{name or element}-{scheme}.png")
                with open(path, "wb") as file:
                    file.write(page.screenshot(f"[id='{element}']"))
                print(path)
            page.close()


if len(sys.argv) < 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
