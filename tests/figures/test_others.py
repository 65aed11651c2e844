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


def some_tables_have_a_sentence():
    bench = tables(bench_bench=[{"item": "toeplitz", "input": "kms", "n": 64, "ratio": 4.0, "met": "yes"},
                                {"item": "fft", "input": None, "n": 8, "ratio": 0.5, "met": "no"},
                                {"item": "machine", "input": None, "n": None, "ratio": None, "met": None}]).rows("bench_bench")
    text = others.finding(bench, {})
    tap.ok("a bench tells how often szego is faster", text == "szego is faster than the rival in 1 of 2 timed cases: 0.5 times "
           "with fft, n = 8 to 4 times with toeplitz, kms, n = 64. 1 of 2 goals are met.", text)
    info = tables(info_info=[{"key": "version", "value": "0.1"}, {"key": "memory", "value": "2 GiB"}]).rows("info_info")
    tap.ok("info tells the machine", others.finding(info, {}) == "szego 0.1: memory 2 GiB.", others.finding(info, {}))
    apart = tables(diff_diff_encodings=[{"source": "b", "base": "a", "head": head, "n": 9, "shift": 1.0 + head}
                                        for head in range(2)]).rows("diff_diff_encodings")
    text = others.finding(apart, {})
    tap.ok("two encodings, how far they are apart", text == "The spectra of b and a are at most 2 apart, eigenvalue by "
           "eigenvalue; head 1, n = 9.", text)
    bare = tables(bench_bench=[{"a": 0.5}]).rows("bench_bench")
    tap.ok("without its columns the extent", others.finding(bare, {}) == "bench_bench: 1 row; a 0.5.", others.finding(bare, {}))


tables_are_listed_unless_they_were_drawn_from()
some_tables_have_a_sentence()
tables_without_a_figure_are_told()
nothing_left_says_so()
tap.finish()
