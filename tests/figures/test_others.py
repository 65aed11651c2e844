#!/usr/bin/python3
"""Tables that no section draws from."""
from support import drawing, tables, tap

from szego.figures import others


def tables_are_listed_unless_they_were_drawn_from():
    made = tables(drawn=[{"a": 1}], left=[{"a": i, "b": "<$x>"} for i in range(12)], one=[{"c": 1e300}])
    made["empty"] = type(made["one"])("empty", {"c": made["one"].columns["c"][:0], "d": made["one"].columns["c"][:0]})
    found = list(others.blocks(made, {"drawn"}))
    tap.ok("each has a heading", [one.text for one in found if isinstance(one, drawing.Heading)] == ["left", "one"])
    counts = [one for one in found if isinstance(one, drawing.Paragraph)]
    tap.ok("rows and columns are counted", [one.text for one in counts] ==
           ["12 rows, 2 columns.", "1 row, 1 column."], str([one.text for one in counts]))
    tap.ok("their rows can be had", [one.sources[0].table for one in counts] == ["left", "one"])
    listed = [one for one in found if isinstance(one, drawing.Listing)]
    tap.ok("ten rows with every column", [(one.rows.table, list(one.columns), one.most) for one in listed] ==
           [("left", ["a", "b"], 10), ("one", ["c"], 10)])


def nothing_left_says_so():
    found = list(others.blocks(tables(drawn=[{"a": 1}]), ["drawn"]))
    tap.ok("none is a sentence", [one.text for one in found] ==
           ["There are none: a section above draws from every table of this folder."])


def tables_without_a_figure_are_told():
    nan, inf = float("nan"), float("inf")
    made = tables(odd=[{"name": "x", "n": 3, "a": 0.5, "b": nan, "lo": 0.1, "c": inf, "d": 2.0, "e": 1.25, "f": 9.5},
                       {"name": "y", "n": 4, "a": -2.5, "b": nan, "lo": 0.2, "c": 1.0, "d": 2.0, "e": 1.5, "f": 9.5}])
    text = others.finding(made.rows("odd"), {"lo": "lower"})
    tap.ok("by the extent of columns of finite reals that are no ends", text == "odd: 2 rows; a −2.5 to 0.5; d 2; e 1.25 to 1.5.",
           text)


tables_are_listed_unless_they_were_drawn_from()
tables_without_a_figure_are_told()
nothing_left_says_so()
tap.finish()
