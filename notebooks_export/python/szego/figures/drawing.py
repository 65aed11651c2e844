"""What is drawn, in numbers: panels of series, rules and cells. Whoever draws it adds ink alone."""
from dataclasses import dataclass, field
from typing import List, Optional, Sequence

import numpy as np

#: What is drawn without a number of its own: numbers beyond it overflow where Matplotlib scales.
LARGEST = 1e150


@dataclass
class Scale:
    """A drawn axis. linear: on both sides of 0 of a "symlog" scale, where it is linear. names: of places 0, 1, ...
    ticks: {place: its text} of those that are named on the axis, where not all are."""
    label: Optional[str] = None
    kind: str = "linear"  # linear, log, symlog
    linear: float = 0.0
    lo: Optional[float] = None
    hi: Optional[float] = None
    names: Optional[List[str]] = None
    ticks: Optional[dict] = None


@dataclass
class Series:
    """Marks of one name. x, y: float64 [count], NaN: no mark. lo, hi: whiskers, an area, or ends of ranges; along x
    where `flat`. hover: a text a mark. head: "2.4" for head 4 of layer 2, of the whole series or a list of one a
    mark. colour: an index, or a role of colours.ROLES. entry: in the legend in place of the name. least, most: values at one x of
    means. named: {place: text} of points with a name beside them."""
    rows: object
    name: Optional[str]
    marks: str
    x: np.ndarray
    y: np.ndarray
    lo: Optional[np.ndarray] = None
    hi: Optional[np.ndarray] = None
    hover: Optional[List[str]] = None
    head: object = None
    column: Optional[object] = None  # record.Column
    colour: object = 0
    thin: bool = False  # half as wide, dashed, without markers: what goes with the thick line of its colour
    fine: bool = False  # half as wide, without markers: a line over marks that would hide it
    unlisted: bool = False
    entry: Optional[str] = None
    stands_out: bool = False
    flat: bool = False
    area: bool = False
    least: int = 0
    most: int = 0
    named: dict = field(default_factory=dict)

    def peak(self):
        """The greatest finite y; NaN: there is none."""
        return float(np.max(self.y[np.isfinite(self.y)], initial=-np.inf)) if np.isfinite(self.y).any() else np.nan

    @property
    def is_band(self):
        """An area without a line."""
        return self.area and not np.isfinite(self.y).any()

    def last(self):
        """The last finite y; NaN: there is none."""
        finite = self.y[np.isfinite(self.y)]
        return float(finite[-1]) if len(finite) else np.nan


@dataclass
class Cells:
    """Means of a value by two keys. value: [rows, columns], NaN: empty. keys: numbers. middle > 0: two hues meet there;
    two_hues: they meet at 0. grey: [rows, columns], what is drawn grey whatever its value. areas: (row, first column,
    last column, text) of what answers to a pointer, in place of every cell."""
    row_keys: np.ndarray
    column_keys: np.ndarray
    value: np.ndarray
    label: str
    row_names: List[str]
    column_names: List[str]
    middle: float = 0.0
    log: bool = False
    lo: Optional[float] = None
    hi: Optional[float] = None
    heads: Optional[np.ndarray] = None  # [rows, columns] of str
    two_hues: bool = False
    grey: Optional[np.ndarray] = None
    areas: Optional[list] = None

    @property
    def filled(self):
        return int(np.isfinite(self.value).sum())


@dataclass
class Line:
    """A rule at a number."""
    name: Optional[str]
    at: float
    vertical: bool = False
    colour: object = "muted"


@dataclass
class Panel:
    rows: object
    name: Optional[str] = None
    series: List[Series] = field(default_factory=list)
    cells: Optional[Cells] = None
    rules: List[Line] = field(default_factory=list)


@dataclass
class Drawing:
    """A figure of a record for some rows. sources: Rows it was drawn from."""
    figure: object
    rows: object
    title: str
    x: Scale
    y: Scale
    panels: List[Panel]
    caption: str = ""
    findings: Sequence[str] = ()
    sources: List[object] = field(default_factory=list)
    undrawn: int = 0  # rows without a place that `prepare` counts
    unknown: object = None  # Rows whose number is not finite where the record needs a finite one
    left_out: List[str] = field(default_factory=list)  # names of panels and series that have no place
    hidden: List[Series] = field(default_factory=list)  # their series, which sentences count too
    width: Optional[float] = None
    height: Optional[float] = None
    free_y: bool = False  # panels have y axes of their own
    own: object = None  # what `prepare` leaves to caption and finding
    x_column: Optional[str] = None  # what x shows: the axis' column, or the one that was taken otherwise

    @property
    def id(self):
        return self.figure.id

    @property
    def remark(self):
        return self.figure.remark

    def series(self):
        """Every series, panel by panel."""
        return [one for panel in self.panels for one in panel.series]

    def every(self):
        """Every series, and those that have no place: what a sentence about all counts."""
        return self.series() + self.hidden

    @property
    def cells(self):
        return self.panels[0].cells if self.panels else None


# ---- Places on the axes ----

def bounded(values):
    """The values; NaN where one is too large to be drawn."""
    return np.where(np.abs(values) < LARGEST, values, np.nan)


def places(drawing, one):
    """The points of the series; NaN where one has no place on the axes."""
    x, y = bounded(one.x), bounded(one.y)
    for values, scale in ((x, drawing.x), (y, drawing.y)):
        if scale.kind == "log":
            values[~(values > 0)] = np.nan
    return x, y


def rules(drawing, panel):
    """The panel's rules that have a place on its axes."""
    return [rule for rule in panel.rules if abs(rule.at) < LARGEST
            and (rule.at > 0 or (drawing.x if rule.vertical else drawing.y).kind != "log")]


# ---- The legend ----

#: Entries of a legend, at most.
ENTRIES = 40


def is_named_within(drawing, one):
    """What stands out in one of several panels has its name there: in another panel its colour is another's."""
    return isinstance(one, Series) and one.stands_out and bool(one.name) and len(drawing.panels) > 1


def look(one):
    """What series and rules of all panels have in common that are one entry: their name, marks and colour. Grey ones
    that the legend counts together are one."""
    if not isinstance(one, Series):
        return one.name, "rule", str(one.colour), False
    counted = one.colour == "muted" and (one.unlisted or one.entry)
    return None if counted else one.name, one.marks, str(one.colour), one.thin


def looks(drawing):
    """{look: the series or rule that shows it}, panel by panel."""
    found = {}
    for panel in drawing.panels:
        for one in panel.series + panel.rules:
            known = found.setdefault(look(one), one)
            if getattr(known, "unlisted", False) and not one.unlisted:
                found[look(one)] = one
    return found


def legend(drawing):
    """[(label, series or rule)]: every entry. One entry alone says nothing, but a rule and what panels name."""
    shown = [(getattr(one, "entry", None) or one.name, one) for one in looks(drawing).values()
             if not getattr(one, "unlisted", False) and not is_named_within(drawing, one)]
    shown = [(label, one) for label, one in shown if label]
    needed = len(shown) > 1 or any(not isinstance(one, Series) for _, one in shown) or \
        any(is_named_within(drawing, one) for one in drawing.series())
    return shown if needed else []


# ---- Blocks of a section, in the order of the page ----

@dataclass
class Paragraph:
    """text: plain, but that `formulas=True` sets formulas in `backquotes`. warning: it stands out."""
    text: str
    formulas: bool = False
    warning: bool = False
    sources: Sequence[object] = ()


@dataclass
class Heading:
    text: str


@dataclass
class Listing:
    """Columns of rows, as a table for readers (columns none: all); at most `most` rows, and a link to all of them
    where `linked`. folded: what the rows are called that are shown when a reader asks."""
    rows: object
    columns: Sequence[str] = ()
    most: int = 200
    linked: bool = True
    folded: Optional[str] = None


@dataclass
class Grid:
    """A table for readers with cells of its own. cells: lists of str, or of (str, exact) where hover tells more;
    numbers: which columns are set as numbers. classes: one or None a row. formulas: which columns have formulas in
    `backquotes`. id: of its element; ids: of its rows'. opens: of each row, the blocks that it opens to. chosen_by: the
    column by whose texts a reader may choose rows. heads: "2.4" of each row, as of a Series. beside: it has its place at
    the side of the figure before it."""
    head: Sequence[str]
    cells: Sequence[Sequence[object]]
    numbers: Sequence[bool] = ()
    classes: Sequence[Optional[str]] = ()
    sources: Sequence[object] = ()
    formulas: Sequence[bool] = ()
    id: Optional[str] = None
    ids: Sequence[str] = ()
    opens: Sequence[Sequence[object]] = ()
    chosen_by: Optional[int] = None
    heads: Sequence[Optional[str]] = ()
    beside: bool = False


@dataclass
class Finding:
    """A sentence among the findings. anchor: an element's id; None: the figure before it."""
    text: str
    anchor: Optional[str] = None
