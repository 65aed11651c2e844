"""Shares of heads beside chance: those of a checkpoint's weights, and those of captured logits."""
import numpy as np

from . import words
from .compose import NAMED
from .drawing import Grid, Paragraph
from .lagmap import key, two

#: What is drawn is within chance where its own p-value is above this. Which heads stand out among all, the tables say.
LEVEL = 0.05
#: Rows of a ranked table.
RANKED = 30


# ---- Which heads ----

class Heads:
    """The heads with a share of one kind, the columns KIND_share, KIND_null and KIND_p; the largest first."""

    def __init__(self, rows, kind):
        rows = rows.known(f"{kind}_share")
        self.kind = kind
        self.rows = rows.pick(np.argsort(-rows.numbers(f"{kind}_share"), kind="stable"))
        self.share, self.null, self.p = (self.rows.numbers(f"{kind}_{column}") for column in ("share", "null", "p"))
        self.tested = np.isfinite(self.p)  # of others chance is not known
        self.within = self.p > LEVEL

    def __len__(self):
        return len(self.rows)

    @property
    def layers(self):
        return self.rows.distinct("layer")

    def one(self, i):
        return self.rows.pick([i])


# ---- The map of shares ----

def prepare_shares(kind):
    """Layer by head, grey within chance."""
    def prepare(drawing):
        rows, cells = drawing.rows, drawing.cells
        within = rows.pick(rows.numbers(f"{kind}_p") > LEVEL)
        places = {(within.number("layer", i), within.number("head", i)) for i in range(len(within))}
        cells.grey = np.array([[(layer, head) in places for head in cells.column_keys] for layer
                               in cells.row_keys], bool).reshape(cells.value.shape)
        cells.label = "share"
    return prepare


def largest_share(drawing):
    """"The largest share is 0.46, of layer 0 head 1"."""
    value = np.where(np.isfinite(drawing.cells.value), drawing.cells.value, -1)
    row, column = np.unravel_index(np.argmax(value), value.shape)
    return (f"The largest share is {two(value[row, column])}, of layer {words.number(drawing.cells.row_keys[row])} head "
            f"{words.number(drawing.cells.column_keys[column])}")


def say_greys(drawing):
    """"2 of 6 heads are within chance, and grey"."""
    cells = drawing.cells
    inside = int((cells.grey & np.isfinite(cells.value)).sum())
    return f"{inside} of {words.count(cells.filled, 'head is', 'heads are')} within chance, and grey"


# ---- The ranked table, and notes ----

def _number(column):
    def cell(head):
        value = head.number(column)
        return words.number(value) if np.isfinite(value) else ""
    return cell


def rounded(column, missing=""):
    """The cell of a ranked table with two digits, and the exact number for whoever points at it."""
    def cell(head):
        value = head.number(column)
        return (two(value), words.exact(value)) if np.isfinite(value) else missing
    return cell


def ranking(heads, *columns):
    """The heads with the largest shares, as a table for readers. columns: (title, whether it has numbers, a function
    of a head's row) of those behind the share and its chance."""
    columns = (("layer", True, _number("layer")), ("head", True, _number("head")),
               ("share", True, rounded(f"{heads.kind}_share")),
               ("chance", True, rounded(f"{heads.kind}_null", "not known")), *columns)
    shown = [heads.one(i) for i in range(min(len(heads), RANKED))]
    return Grid([title for title, _, _ in columns], [[cell(head) for _, _, cell in columns] for head in shown],
                [numbers for _, numbers, _ in columns], sources=[heads.rows], beside=True,
                classes=["within" if heads.within[i] else None for i in range(len(shown))],
                heads=[key(head) for head in shown])


def peak(kind):
    """The column of a ranked table with the lag of the peak."""
    return "peak lag", True, _number(f"{kind}_peak")


def say_notes(rows, one, many):
    """"6 heads have no share (layer 0, layer 1). The note of the first: NOTE.", or nothing. Notes are for people, and not
    compared with one another."""
    if len(rows):
        note = rows.pick([0]).text("note") or "the table gives no reason"
        layers = words.listed([f"layer {words.number(layer)}" for layer in rows.distinct("layer")])
        yield Paragraph(f"{words.count(len(rows), one, many)}{f' ({layers})' if layers else ''}. The note of the first: "
                        f"{words.clipped(note, 400)}.", sources=[rows])


def say_rest(names, rows):
    """"Not drawn: a; b; and 3 more.", or nothing."""
    if names:
        more = f"; and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield Paragraph(f"Not drawn: {'; '.join(names[:NAMED])}{more}.", sources=[rows])
