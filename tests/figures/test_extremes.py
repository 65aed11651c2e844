#!/usr/bin/python3
"""Ends of the spectrum: which values are resolved, and the outermost one."""
from support import blocks, chance, drawing, drawings, tables, tap, typed

from szego.figures import extremes


def rows(source, end, count=5, head=0, **more):
    return [{"result": "r", "source": source, "head": head, "matrix": "bias", "n": 3000, "end": end, "index": i,
             "value": chance.uniform(-2, 2), "error": chance.choice([1e-16, 1e-13]), "gap": 1e-5,
             "resolved": chance.randrange(2), "lo": -2.5, "hi": 2.5, **more} for i in range(count)]


def counts_are_those_of_the_rows():
    least, largest = rows("kms", "least") + rows("kms", "least", head=1), rows("kms", "largest", 1)
    found = {one.id: one for one in drawings(extremes.SECTION, tables(spectrum_extremes=least + largest))}
    ids = ["extremes-largest", "extremes-largest-errors", "extremes-least", "extremes-least-errors"]
    tap.ok("both ends, with their errors", sorted(found) == ids, str(list(found)))
    resolved = sum(row["resolved"] for row in least)
    tap.ok("resolved values are counted", found["extremes-least"].caption == (
        f"{resolved} of 10 values are resolved; the other {10 - resolved} may be the same eigenvalue as a neighbour."))
    first = min(least, key=lambda row: row["value"])
    text = found["extremes-least"].findings[0]
    tap.ok("the finding tells the outermost and its error",
           f"head {first['head']}, n = 3000: the least eigenvalue is "
           f"{float('%.4g' % first['value']):g}, known to within {first['error']!r}" in typed(text) and "Hermitian" not in text, text)
    part = drawings(extremes.SECTION, tables(spectrum_extremes=rows("t5", "least", values_of="hermitian_part")))[0]
    tap.ok("those of the Hermitian part are named so", part.findings[0].startswith("t5, bias, Hermitian part, ") and
           "Hermitian part" in part.title, f"{part.findings} {part.title}")
    tap.ok("heads have names", [one.name for one in found["extremes-least"].series()] == ["head 0", "head 1"])
    rules = [(rule.name, rule.at) for rule in found["extremes-least"].panels[0].rules]
    tap.ok("bounds of the end", rules == [("certified bounds of the end", -2.5), (None, 2.5)], str(rules))
    tap.ok("errors stand on a log axis", found["extremes-least-errors"].y.kind == "log")


def corners_are_survived():
    made = rows("$x<", "least", value=None, error=None)
    found = blocks(extremes.SECTION, tables(spectrum_extremes=made))
    tap.ok("values that are all unknown", not any(isinstance(one, drawing.Drawing) and one.id == "extremes-least"
                                                  for one in found))
    made = rows("zero", "largest", 3, error=0.0, gap=float("nan"), value=1e300, resolved=None)
    found = drawings(extremes.SECTION, tables(spectrum_extremes=made))
    tap.ok("errors of 0 and huge values", found[0].caption == "No value is resolved: each may be the same "
           "eigenvalue as a neighbour. Not drawn: 3 "
           "values of 1e150 or more in size.", str([one.caption for one in found]))
    made = rows("all", "largest", 2, error=1e-16, resolved=1)
    tap.ok("all are resolved", drawings(extremes.SECTION, tables(spectrum_extremes=made))[0].caption ==
           "All 2 values are resolved.")
    missing = blocks(extremes.SECTION, tables(spectrum_extremes=[{"source": "a", "end": "least", "index": 0,
                                                                  "error": 1.0}]))
    tap.ok("a missing column is said", any("the least eigenvalues are not drawn" in one.text for one in missing
                                           if isinstance(one, drawing.Paragraph)))


counts_are_those_of_the_rows()
corners_are_survived()
tap.finish()
