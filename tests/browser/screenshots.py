#!/usr/bin/env python3
"""One PNG a section of a report, light and dark, for people to look at.
usage: screenshots.py REPORT.html OUT/"""
import os
import sys

from browser import Browser

SECTIONS = "Array.from(document.querySelectorAll('section[id]'), section => section.id)"


def main(report, out):
    os.makedirs(out, exist_ok=True)
    with Browser(timeout=120) as browser:
        for scheme in ("light", "dark"):
            page = browser.open(report, dark=scheme == "dark")
            for name in page.evaluate(SECTIONS):
                path = os.path.join(out, f"{name}-{scheme}.png")
                with open(path, "wb") as file:
                    file.write(page.screenshot(f"section[id='{name}']"))
                print(path)
            page.close()


if len(sys.argv) != 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
