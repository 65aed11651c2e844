#!/usr/bin/python3
"""Tables that no section draws from."""
from support import drawing, tables, tap

from szego.figures import others


def tables_are_listed_unless_they_were_drawn_from():
    made = tables(drawn=[{"a": 1}], left=[{"a": i, "b": "<$x>"} for i in range(12)], one=[{"c": 1e300}])
    made["empty"] = type(made["one"])("empty", {"c": made["one"].columns["c"][:0], "d": made["one"].columns["c"][:0]})
    found = list(others.blocks(made, {"drawn"}))
    tap.ok("each has a heading", [one.text for one in found if isinstance(one, drawing.Heading)] == ["left", "one", "empty"])
    counts = [one for one in found if isinstance(one, drawing.Paragraph)]
    tap.ok("rows and columns are counted", [one.text for one in counts] ==
           ["12 rows, 2 columns.", "1 row, 1 column.", "0 rows, 2 columns."], str([one.text for one in counts]))
    tap.ok("their rows can be had", [one.sources[0].table for one in counts] == ["left", "one", "empty"])
    listed = [one for one in found if isinstance(one, drawing.Listing)]
    tap.ok("ten rows with every column", [(one.rows.table, list(one.columns), one.most) for one in listed] ==
           [("left", ["a", "b"], 10), ("one", ["c"], 10)])


def nothing_left_says_so():
    found = list(others.blocks(tables(drawn=[{"a": 1}]), ["drawn"]))
    tap.ok("none is a sentence", [one.text for one in found] ==
           ["There are none: a section above draws from every table of this folder."])


tables_are_listed_unless_they_were_drawn_from()
nothing_left_says_so()
tap.finish()
