#!/usr/bin/python3
"""How szego reads CSV: random tables, cut into stretches of any length, against a reader of one character at a time;
what is refused, and where; arrays of cells against a conversion of each.
usage: test_csvfile.py
"""
import os
import random
import sys

from peer import Tap, skip

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.abspath(os.path.join(HERE, "..", "..", "notebooks_export", "python")))
try:
    import numpy as np
    from szego import csvfile, tables
    from szego.errors import DataError
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy is needed")

SEED = int(os.environ.get("SZG_TEST_SEED", "20261129"), 0)
TRIALS = max(1, int(1500 * float(os.environ.get("SZG_TEST_MULTIPLIER", "1"))))
chance = random.Random(SEED)
tap = Tap()
print(f"# SZG_TEST_SEED={SEED}")
BARE = ["", "1", "-2.5e-300", "a b", "\u00e9\u4e2d", "'", ";", "\t"]
QUOTED = ["", ",", "\n", "\r\n", '"', 'a,"b"\nc', "x"]


def oracle(text):
    """(rows, the number of the first row of another length than the header's, or None): RFC 4180, None where a cell is
    empty."""
    rows, row, at = [], [], 0
    while at < len(text):
        cell, quoted = "", text[at] == '"'
        if quoted:
            at += 1
            while text[at] != '"' or text[at:at + 2] == '""':
                cell += text[at]
                at += 2 if text[at] == '"' else 1
            at += 1
        while at < len(text) and text[at] not in ",\n":
            cell += text[at]
            at += 1
        end = at == len(text) or text[at] == "\n"
        if end and text[at - 1] == "\r":
            cell = cell[:-1]
        row.append(cell if cell or quoted else None)
        if at == len(text) - 1 and text[at] == ",":
            row.append(None)
        at += 1
        if end:
            rows.append(row)
            row = []
    if row:
        rows.append(row)
    return rows, next((i + 1 for i, row in enumerate(rows) if len(row) != len(rows[0])), None)


def table(width, quotes, ends):
    """A text; quotes: how often a cell is quoted; ends: of lines."""
    lines = []
    for number in range(chance.randrange(1, 40)):
        cells = [f"c{i}" for i in range(width)] if number == 0 else [
            '"' + chance.choice(QUOTED).replace('"', '""') + '"' if chance.random() < quotes else chance.choice(BARE)
            for _ in range(width)]
        if number and chance.random() < 0.004:
            cells = cells[:-1] if width > 1 and chance.random() < 0.5 else cells + ["more"]
        lines.append(",".join(cells) + chance.choice(ends))
    text = "".join(lines)
    return text[:-1] if chance.random() < 0.3 and text[-2:] != "\r\n" else text


def agrees(text):
    """What is wrong; None: nothing."""
    rows, short = oracle(text)
    try:
        header, columns = csvfile.read_columns(text.encode(), "t.csv")
    except DataError as error:
        fine = short and f"t.csv: row {short} has {len(rows[short - 1])} cells where the header has {len(rows[0])}" == \
            str(error)
        return None if fine else f"{error}, row {short} expected"
    if short:
        return f"row {short} is not refused"
    return None if [header, *map(list, zip(*columns))] == rows else f"{columns} of {rows}"


wrong, before = None, csvfile._STRETCH  # pylint: disable=protected-access
for _ in range(TRIALS):
    csvfile._STRETCH = chance.choice([0, 1, 7, 30, 200, before])  # pylint: disable=protected-access
    drawn = table(chance.randrange(1, 5), chance.choice([0, 0, 0.02, 0.5]), chance.choice([["\n"], ["\n"], ["\r\n", "\n"]]))
    fault = agrees(drawn)
    wrong = wrong or (fault and f"{fault} of {drawn!r} with {csvfile._STRETCH}")  # pylint: disable=protected-access
csvfile._STRETCH = before  # pylint: disable=protected-access
tap.ok(f"{TRIALS} tables are read as by one character at a time", wrong is None, str(wrong))

# A long line and a short one, which have the cells of two lines together.
for body, row in (("1,2,3\n4\n", 2), ("1,2\n3\n4,5,6\n", 3), ("1,2\n\n3,4\n", 3), ("1,2\n3,4,\n5,6\n", 3)):
    try:
        csvfile.read_columns(b"a,b\n" + body.encode(), "t.csv")
        told = "nothing"
    except DataError as error:
        told = str(error)
    tap.ok(f"{body!r}: the row is named", f"row {row} has" in told, told)

wrong = None
for _ in range(300):
    kind = chance.choice(["integer", "real", "text"])
    drawn = {"integer": ["0", "-7", str(2**63 - 1), str(-2**63)], "real": ["0", "-0", "1e5", "nan", "-inf", "0.1"],
             "text": ["", "a", "0"]}[kind]
    cells = [chance.choice(drawn + [None] * chance.randrange(2)) for _ in range(chance.choice([0, 1, 3, 40]))]
    if kind == "real":
        cells += [repr(chance.random()) for _ in range(chance.choice([0, 30]))]
    made = tables.array(kind, cells)
    empty = [cell is None for cell in cells]
    known = np.ma.getdata(made)[~np.array(empty, bool)].tolist()
    want = [{"integer": int, "real": float, "text": str}[kind](cell) for cell in cells if cell is not None]
    fine = np.ma.getmaskarray(made).tolist() == empty and list(map(repr, known)) == list(map(repr, want)) and \
        np.ma.isMaskedArray(made) == any(empty) and made.dtype == {"integer": "i8", "real": "f8", "text": "O"}[kind]
    wrong = wrong or (None if fine else f"{kind} {cells}: {made!r}")
tap.ok("arrays are those of each cell", wrong is None, str(wrong))

wrong = []
for kind, good, bad in (("integer", ["0", "-1", str(2**63 - 1), str(-2**63), "0" * 19],
                         ["", "+1", "1.0", " 1", str(2**63), "0" * 20, "1_0", "\u0661"]),
                        ("real", ["1", "-.5", "+5.", "1e-300", "nan", "-nan", "+inf"],
                         ["", "1,5", "infinity", "1_0", " 1", "e5", ".", "+nan", "1e"])):
    for cell in good + bad:
        column = tables.Column("c", kind, "", ["1", None, cell, "2"])
        try:
            column.check("t.csv")
            told = None
        except DataError as error:
            told = str(error)
        if (told is None) != (cell in good) or told and told != f"t.csv: row 4, column c: {cell!r} is no {kind}":
            wrong.append((kind, cell, told))
tap.ok("cells of another type are named with their row", not wrong, str(wrong))
tap.finish()
