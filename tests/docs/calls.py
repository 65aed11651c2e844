#!/usr/bin/python3
"""What the pages call in Python is there after `import szego` alone. Prints TAP.

usage: calls.py PROGRAM SOURCE
"""
import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[2])
sys.path[:0] = [str(SOURCE / "tests/peer"), str(SOURCE / "notebooks_export/python")]
# pylint: disable=wrong-import-position
from peer import Tap, skip

try:
    import szego
    import pandas
    import matplotlib  # pylint: disable=unused-import
    import scipy  # pylint: disable=unused-import
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy, -scipy, -pandas and -matplotlib are needed")

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?<![\w./-])szego(?:\.[a-zA-Z_]\w*)+")
CALL = re.compile(r"`(szego(?:\.[a-zA-Z_]\w*)+)\(")  # in a sentence
JAVASCRIPT = "html-report.md"  # of a page's own object
tap = Tap()


def named(text):
    """Names of the package that a page's Python uses; a module that a block imports itself is not among them."""
    for block in BLOCK.findall(text):
        yield from NAME.findall(re.sub(r"^from szego.*", "", block, flags=re.MULTILINE))
    yield from CALL.findall(text)


def is_there(name):
    """In a process of its own: what one name imports would hide that another one is missing."""
    child = os.fork()
    if not child:
        found = szego
        for part in name.split(".")[1:]:
            found = getattr(found, part, None)
        os._exit(found is None)
    return os.waitpid(child, 0)[1] == 0


tap.ok("a name that is not there is found", not is_there("szego.spectrums") and not is_there("szego.plot.spectrums"))
tap.ok("names are read from blocks and sentences", list(named("```python\nfrom szego.a import b\nszego.c.d(1)\n```\n"
                                                              "```sh\nszego.e\n```\n`szego.f(1)` `szego.g`\n")) ==
       ["szego.c.d", "szego.f"])
pages = [path for path in [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))] if path.name != JAVASCRIPT]
places = {}
for page in pages:
    for one in named(page.read_text(encoding="utf-8")):
        places.setdefault(one, page.name)
tap.ok("names were found", len(places) > 15, str(places))
for one, page in sorted(places.items()):
    tap.ok(f"{page}: {one}", is_there(one))
frame = pandas.DataFrame({"encoding": "rope", "split": ["train", "test"] * 2, "accuracy": [0.5, 0.25, 0.75, 0.375]})
page = (SOURCE / "docs/how-to/python.md").read_text("utf-8")
line = re.search(r"^szego\.load\(.*train_metrics.*$", page, re.MULTILINE)
szego.load = lambda folder, frames: {"train_metrics": frame}
found = eval(line.group())  # pylint: disable=eval-used # of our own page
tap.ok("an accuracy of the example is that of test examples", found.to_dict() == {"rope": 0.375}, str(found))
told = szego.columns.label("sigma_max"), szego.columns.unit("loss"), szego.columns.end("lambda_min_lo")
tap.ok("szego.columns says what docs/how-to/python.md says", told == ("largest singular value", "nats", "lower"))
tap.finish()
