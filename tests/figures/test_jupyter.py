#!/usr/bin/python3
"""Blocks as a notebook shows them: each kind is shown, tables keep every cell, and hostile texts stay texts."""
import contextlib
import dataclasses
import io
from html.parser import HTMLParser

from support import drawing, tables, tap

from szego.figures import jupyter, tabular

#: What blocks are made of.
PARTS = {drawing.Scale, drawing.Series, drawing.Cells, drawing.Line, drawing.Panel}


class Table(HTMLParser):
    """The tags of a table's HTML, its cells' texts, and the titles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.titles, self.is_cell = [], [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        self.is_cell = self.is_cell or tag in ("td", "th")
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.titles += [value for key, value in attrs if key == "title"]

    def handle_endtag(self, tag):
        self.is_cell = self.is_cell and tag not in ("td", "th")

    def handle_data(self, data):
        if self.is_cell:
            self.rows[-1][-1] += data


def shown(blocks, ends=None):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        jupyter.show(blocks, ends or {})
    return said.getvalue()


def each_kind_has_a_branch():
    kinds = {one for one in vars(drawing).values() if dataclasses.is_dataclass(one)} - PARTS
    tap.ok("a notebook shows every kind of block, and nothing else", kinds == set(jupyter.KINDS),
           str(kinds ^ set(jupyter.KINDS)))
    try:
        said = shown([drawing.Scale()])
    except KeyError as error:
        said = str(error)
    tap.ok("what is no block is refused by name", "Scale" in said, said)


LISTED = [{"result": "r", "quantity": "p" * 70, "lo": 0.1 + i, "hi": 0.3 + i, "step": 10**6 + i, "none": None}
          for i in range(5)]


def listings_are_shown():
    rows = tables(verify_evidence=LISTED).rows("verify_evidence")
    said = shown([drawing.Heading("Evidence"), drawing.Listing(rows, ("quantity", "lo", "step", "none"), most=3)])
    lines = said.splitlines()
    tap.ok("a heading and a line a row, columns aligned", lines[0] == "EVIDENCE" and lines[1].split() ==
           ["quantity", "lower", "end", "training", "step"] and [line.split() for line in lines[2:5]] ==
           [["p" * 70, text, str(step)] for text, step in (("0.1", 10**6), ("1.1", 10**6 + 1), ("2.1", 10**6 + 2))]
           and len({len(line) for line in lines[1:5]}) == 1, said)
    tap.ok("where the other rows are", "And 2 more rows, in archive['verify_evidence']." in lines, said)
    said = shown([drawing.Listing(rows, most=3, linked=False, folded="its first rows")])
    tap.ok("what the rows are called", said.startswith("its first rows\nresult") and "more rows" not in said, said)
    ends = {"verify_evidence": {"lo": "lower", "hi": "upper"}}
    thirds = tables(verify_evidence=[{"lo": 1 / 3, "hi": 1 / 3, "mean": 1 / 3}]).rows("verify_evidence")
    said = shown([drawing.Listing(thirds)], ends).splitlines()[1].split()
    tap.ok("ends are rounded outwards", said == ["0.333333", "0.333334", "0.333333"], str(said))


def grids_are_shown():
    grid = drawing.Grid(("claim", "n"), [("E|1", ("1/3", "0.25")), ("`x_1` is", "22")], (False, True),
                        formulas=(True, False))
    table = jupyter.Table(grid.head, tabular.grid_cells(grid), grid.numbers, grid.formulas)
    html = Table(table._repr_html_())  # pylint: disable=protected-access
    tap.ok("a cell a column, formulas as code, exact numbers where a reader points", html.rows ==
           [["claim", "n"], ["E|1", "1/3"], ["x_1 is", "22"]] and html.tags.count("code") == 1
           and html.titles == ["0.25"], str((html.rows, html.tags, html.titles)))
    tap.ok("as text columns are aligned, without backquotes",
           shown([grid]) == "claim     n\nE|1     1/3\nx_1 is   22\n\n", shown([grid]))
    opened = dataclasses.replace(grid, opens=[[drawing.Paragraph("first")], [drawing.Heading("second")]], chosen_by=1)
    tap.ok("below it what the rows open to", shown([opened]).endswith("\nE|1: 1/3\nfirst\n\n`x_1` is: 22\nSECOND\n"),
           shown([opened]))


def jupyter_gets_html():
    given = []
    jupyter.builtins.display = given.append
    try:
        said = shown([drawing.Grid(("a",), [("b",)])])
    finally:
        del jupyter.builtins.display
    tap.ok("Jupyter displays a table", said == "" and [type(one) for one in given] == [jupyter.Table], said)


def hostile_texts_are_texts():
    hostile = "<b>$x$ \\(y\\) `z` &amp; \"'\x1b[2J\u202e"
    made = tables(t=[{hostile: hostile}]).rows("t")
    cells = tabular.listed_cells(drawing.Listing(made), {})
    for formulas in (False, True):
        table = jupyter.Table([hostile], cells, [False], [formulas])
        text = table._repr_html_()  # pylint: disable=protected-access
        html = Table(text)
        visible = hostile.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
        tap.ok(f"tags of ours alone, formulas={formulas}", set(html.tags) <= {"table", "tr", "th", "td", "span", "code"}
               and html.rows == [[visible], [visible.replace("`", "") if formulas else visible]], str(html.rows))
        tap.ok(f"no formula for MathJax, formulas={formulas}", "$x" not in text and "\\(" not in text, text)
        tap.ok(f"nothing drives a terminal, formulas={formulas}", not {"\x1b", "\u202e"} & set(repr(table)))


each_kind_has_a_branch()
listings_are_shown()
grids_are_shown()
jupyter_gets_html()
hostile_texts_are_texts()
tap.finish()
