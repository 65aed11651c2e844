#!/usr/bin/env python3
"""tools/same-answers: what it calls alike and what it calls different. Prints TAP."""
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/same-answers"
CSV = "step,loss,train_seconds,note\n1,0.25,3.5,a word\n"
JSON = {"version": "1", "commit": "a", "seed": 0, "rows": [{"learning_rate": 0.1, "hours": 2}]}


def manifest(tree, kind):
    """An npy file of one text, as NumPy (kind U) and the program (S) have written it."""
    text = json.dumps(tree)
    head = f"{{'descr': '{'<' if kind == 'U' else '|'}{kind}{len(text)}', 'fortran_order': False, 'shape': (), }}".ljust(117)
    return b"\x93NUMPY\1\0" + (118).to_bytes(2, "little") + head.encode() + b"\n" + \
        text.encode("utf-32-le" if kind == "U" else "ascii")


def write(folder, table=CSV, tree=None, binary=b"\x93\xff", member=b"1", about=None):
    folder.mkdir()
    (folder / "table.csv").write_text(table)
    (folder / "result.json").write_text(json.dumps(tree or JSON))
    (folder / "array.npy").write_bytes(binary)
    (folder / "path.out").write_text(f"wrote {folder.resolve()}/x\n")
    with zipfile.ZipFile(folder / "arrays.npz", "w") as archive:
        archive.writestr("a.npy", member)
        archive.writestr("manifest.npy", about or manifest(JSON, "S"))


def verdict(changes, *options):
    """The exit status and the output of a comparison in which the new side has `changes`."""
    with tempfile.TemporaryDirectory() as place:
        old, new = pathlib.Path(place, "old"), pathlib.Path(place, "new")
        write(old)
        write(new, **changes)
        done = subprocess.run([TOOL, "compare", old, new, *options], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


CASES = [
    ("the same answers in two folders are alike", {}, [], (0, "")),
    ("times, the version and the commit are masked",
     {"table": CSV.replace("3.5", "4"),
      "tree": {**JSON, "version": "2", "commit": "b", "rows": [{"learning_rate": 0.1, "hours": 3}]}}, [], (0, "")),
    ("a number of a table counts to its last digit", {"table": CSV.replace("0.25", "0.250")}, [], (1, "table.csv")),
    ("a learning rate is no rate of a clock",
     {"tree": {**JSON, "rows": [{"learning_rate": 0.2, "hours": 2}]}}, [], (1, "result.json")),
    ("one more row counts", {"table": CSV + "2,0.1,1,\n"}, [], (1, "table.csv")),
    ("an added column counts", {"table": CSV.replace("note", "zeros,note").replace(",a w", ",1,a w")}, [], (1, "table.csv")),
    ("an added column that is named does not",
     {"table": CSV.replace("note", "zeros,note").replace(",a w", ",1,a w")}, ["--ignore", "zeros"], (0, "")),
    ("reworded notes do not count if they are named",
     {"table": CSV.replace("a word", "other words")}, ["--ignore", "note"], (0, "")),
    ("one bit of an array counts", {"binary": b"\x93\xfe"}, [], (1, "array.npy")),
    ("members of an npz count", {"member": b"2"}, [], (1, "arrays.npz")),
    ("a manifest in it is read, of bytes or of UTF-32", {"about": manifest(JSON, "U")}, [], (0, "")),
    ("and masked", {"about": manifest({**JSON, "commit": "b"}, "U")}, [], (0, "")),
    ("and compared", {"about": manifest({**JSON, "seed": 1}, "U")}, [], (1, "arrays.npz")),
]


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, (name, changes, options, (code, file)) in enumerate(CASES, 1):
        got, out = verdict(changes, *options)
        fine = got == code and (out.startswith(file + ":") if file else out == "")
        failed += not fine
        print(f"{'ok' if fine else 'not ok'} {number} - {name}")
        if not fine:
            print(f"# exit {got}: {out}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
