#!/usr/bin/env python3
"""Records of runs: an archive gives its tables again. Prints TAP.

usage: test_record.py SZEGO
Numbers may differ by roundings of another processor's libm; all else is equal to the letter.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TOOL = SOURCE / "tools/record-runs"
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")
ROUNDINGS = 1e-12  # of numbers that are at most 1000, after a few hundred roundings


def alike(old, new):
    if NUMBER.sub("#", old) != NUMBER.sub("#", new):
        return False
    return all(abs(float(a) - float(b)) <= ROUNDINGS * max(1, abs(float(a)))
               for a, b in zip(NUMBER.findall(old), NUMBER.findall(new)))


def add_foreign_run(root):
    """A finished run that the preset does not have: nothing of it belongs in the record."""
    own = min(root.glob("runs/*/distance/*/run-*"))
    shutil.copytree(own, root / "runs/foreign" / own.relative_to(root / "runs").relative_to(own.parts[-4]))


def written_again(szego, record, scratch):
    """Pairs of a file's name and whether the tool gives it again."""
    with tarfile.open(record / "runs.tar.xz") as archive:
        archive.extractall(scratch / "runs")
    add_foreign_run(scratch / "runs")
    subprocess.run([TOOL, szego, record.name, scratch / "runs", scratch / "record"], check=True)
    for path in sorted(record.glob("*.csv")):
        yield path.name, alike(path.read_text(), (scratch / "record" / path.name).read_text())
    with tarfile.open(record / "runs.tar.xz") as old, tarfile.open(scratch / "record/runs.tar.xz") as new:
        yield "runs.tar.xz", old.getnames() == new.getnames() and len(old.getnames()) >= 300


def main(szego):
    answers = []
    for record in sorted(path.parent for path in SOURCE.glob("docs/reference/mechanism-results/*/runs.tar.xz")):
        with tempfile.TemporaryDirectory() as folder:
            answers += [(f"{record.name}: {name}", fine) for name, fine in written_again(
                pathlib.Path(szego).resolve(), record, pathlib.Path(folder))]
    for number, (name, fine) in enumerate(answers, 1):
        print(f"{'' if fine else 'not '}ok {number} - {name}")
    print(f"1..{len(answers)}")
    return int(not all(fine for _, fine in answers) or len(answers) < 5)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
