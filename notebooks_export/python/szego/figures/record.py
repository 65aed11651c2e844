"""The record of a figure: which rows it shows, how they split, what is drawn, and what is said.

A subject (contraction, ranges, ...) is a module that lists such records in a Section. `compose` makes drawings of
them; `draw` draws those with Matplotlib.
"""
from dataclasses import dataclass, field
from typing import Callable, Optional, Tuple

LINE, POINTS, BARS, RANGES, VIOLINS, CELLS, ROWS = "line", "points", "bars", "ranges", "violins", "cells", "rows"
EACH, MEANS, RANKED, QUANTILES = "each", "means", "ranked", "quantiles"
LINEAR, LOG, CHOSEN = "linear", "log", "chosen"

#: Figures of a section, panels of a figure, series of a panel, and places of an axis, at most.
FIGURES, PANELS, SERIES, PLACES = 8, 24, 256, 256


@dataclass(frozen=True)
class Axis:
    """What an axis shows.

    column: of numbers; of texts a place for each. label: in place of the column's words and unit. scale: "linear",
    "log" (linear where a value is negative; 0 has no place on it), "chosen" (by the data: linear, log, or log on both sides of 0).
    times: unit of the figure over that of the table. lo, hi: ends, for values that all lie between them.
    places: numbers are names, each with a place of its own. otherwise: the column in place of one with a single value.
    """
    column: Optional[str] = None
    label: Optional[str] = None
    scale: str = LINEAR
    times: float = 1.0
    lo: Optional[float] = None
    hi: Optional[float] = None
    places: bool = False
    otherwise: Optional[str] = None


@dataclass(frozen=True)
class Rule:
    """A line across a panel: at the mean of a column over the panel's rows (with that of `plus` added), or at a
    number. colour: a role or an index, as of a Series."""
    name: str
    column: Optional[str] = None
    plus: Optional[str] = None
    at: float = float("nan")
    vertical: bool = False
    colour: object = "muted"


@dataclass(frozen=True)
class Column:
    """One of several columns over the same x, each a series. colour: a role or an index, as of a Series."""
    column: str
    name: Optional[str] = None
    spread: Optional[str] = None
    seeds: Optional[str] = None
    colour: object = None


@dataclass(frozen=True)
class Figure:
    """One figure: an id, the rows, the marks, the words.

    Functions that are given Rows see those of the figure (`keeps`: of a table; it answers a mask); those that are
    given a Drawing see what is drawn. `prepare` may change the drawing. `finding` answers one sentence or a list.
    """
    id: str
    # Which rows.
    tables: Tuple[str, ...]
    only: Optional[str] = None  # tables without this column are none of the figure's
    needs: Tuple[str, ...] = ()  # columns of numbers
    undone: Optional[str] = None  # what is said without them: "the energies are not drawn"
    where: Tuple[str, ...] = ()  # (column, text, ...): rows with one of the texts
    keeps: Optional[Callable] = None
    known: Tuple[str, ...] = ()  # rows whose numbers in these columns are finite; the caption counts the others
    last: Optional[str] = None  # of the figure's rows those with the greatest number in this column
    # How they split.
    figure_by: Tuple[str, ...] = ()
    figure_key: Optional[Callable] = None  # rows -> a key for each, None for those of no figure
    group_by: Tuple[str, ...] = ()  # each of these gets a figure before any gets a second
    skips: Optional[Callable] = None  # a figure that shows nothing
    skipped: Optional[str] = None  # why: "every ratio is 1 up to rounding"; None: nothing is said
    panel_by: Tuple[str, ...] = ()
    series_by: Tuple[str, ...] = ()
    series_key: Optional[Callable] = None
    outliers: bool = False  # series are grey; what stands out is coloured and named
    by_last: bool = False  # stands out by its last value, not by its greatest
    most: int = 0  # figures of this record; 0: as many as the section has
    # What is drawn.
    marks: str = LINE
    values: str = EACH
    x: Axis = Axis()
    y: Axis = Axis()
    columns: Tuple[Column, ...] = ()  # in place of y's
    lo: Optional[str] = None  # columns, in y's unit (in x's for ranges)
    hi: Optional[str] = None
    area: bool = False  # lo and hi of lines bound an area, not whiskers
    spread: Optional[str] = None  # lo and hi are this much below and above, where `seeds` > 1
    seeds: Optional[str] = None
    value: Optional[str] = None  # column of cells
    middle: float = 0.0  # of cells: two hues meet here, and a half is as far from it as the double
    colours: str = LINEAR  # scale of the cells' colours
    value_lo: Optional[float] = None
    value_hi: Optional[float] = None
    rules: Tuple[Rule, ...] = ()
    shown: Tuple[str, ...] = ()  # columns of ROWS; none: all
    height: Optional[float] = None  # inches
    width: Optional[float] = None
    # What is said.
    heading: Optional[str] = None  # above the record's figures
    title: Optional[str] = None  # what is drawn: "singular values by head"
    subject: Optional[Callable] = None  # rows -> of what; None: the title is alone
    series_name: Optional[Callable] = None  # rows -> name; None: from series_by
    hover: Tuple[str, ...] = ()  # columns that are told at a point
    prepare: Optional[Callable] = None
    caption: Optional[Callable] = None  # drawing -> sentences; None: the greatest and the least value
    remark: Optional[str] = None  # behind the caption; it may hold formulas in `backquotes`
    finding: Optional[Callable] = None


@dataclass(frozen=True)
class Section:
    """What there is to see of one kind of result. compose: in place of the records' own order, a function of
    (section, tables) that answers blocks; is_present: tables -> bool, in place of any of `tables` having rows."""
    id: str
    title: str
    tables: Tuple[str, ...] = ()
    intro: Optional[str] = None  # it may hold formulas in `backquotes`
    figures: Tuple[Figure, ...] = ()
    most: int = FIGURES
    compose: Optional[Callable] = None
    is_present: Optional[Callable] = field(default=None)

    def present(self, tables):
        """Whether the results have anything for it."""
        if self.is_present:
            return self.is_present(tables)
        return any(len(tables.rows(name)) > 0 for name in self.tables) if self.tables else bool(tables)
