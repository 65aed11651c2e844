"""What a figure's axes have no place for: how many values and why, so that no mark is lost unsaid."""
import numpy as np

from . import words
from .drawing import ENTRIES, LARGEST, legend, rules
from .record import EACH, MEANS, RANGES


class _Once:
    """Rows of tables, each counted once a column, whatever series it is in."""

    def __init__(self):
        self._gone = {}

    def add(self, rows, column, mask):
        key = rows.table, column
        self._gone.setdefault(key, set()).update(rows.index[mask].tolist())

    def __len__(self):
        return sum(map(len, self._gone.values()))


class _Count:
    def __init__(self, drawing):
        self.drawing, self.infinite, self.placeless = drawing, _Once(), _Once()
        self.further = self.intervals = self.beyond = 0
        self.not_positive = []  # the values
        if drawing.unknown is not None:
            self.infinite.add(drawing.unknown, None, np.ones(len(drawing.unknown), bool))
        if drawing.cells:
            self._count_cells()
        for one in drawing.series():
            self._count_rows(one)
            self._count_marks(one)

    def _count_cells(self):
        figure, rows, cells = self.drawing.figure, self.drawing.rows, self.drawing.cells
        placed = np.isin(rows.numbers(figure.y.column), cells.row_keys) & np.isin(rows.numbers(figure.x.column),
                                                                                  cells.column_keys)
        self.infinite.add(rows, figure.value, placed & rows.is_infinite(figure.value))
        self.placeless.add(rows, figure.value, ~placed)

    def _columns(self, one):
        return self.drawing.x_column, one.column.column if one.column else self.drawing.figure.y.column

    def _count_rows(self, one):
        """Cells that are written but not finite, and numbers without a place, by the rows that the series is of."""
        drawing, rows, (x, y) = self.drawing, one.rows, self._columns(one)
        infinite = rows.is_infinite(x) | rows.is_infinite(y)
        self.infinite.add(rows, y, infinite)
        if drawing.figure.values == MEANS:
            at, value = rows.numbers(x), rows.numbers(y)
        elif drawing.figure.values == EACH and len(one.x) == len(one.y) == len(rows):
            at, value = one.x, one.y
        else:
            self.further += max(int((np.isinf(one.x) | np.isinf(one.y)).sum()) - int(infinite.sum()), 0)
            return
        self.further += int(((np.isinf(at) | np.isinf(value)) & ~infinite).sum())
        lost = np.isnan(at) & np.isfinite(value)
        if drawing.y.names is not None:  # the values are along x, or there are none
            lost = np.isnan(value) & (np.isfinite(at) | (drawing.x.names is not None)) | (
                lost & (drawing.x.names is not None))
        self.placeless.add(rows, y, lost & ~infinite)

    def _count_marks(self, one):
        x_log, y_log = (scale.kind == "log" for scale in (self.drawing.x, self.drawing.y))
        finite = np.isfinite(one.x) & np.isfinite(one.y)
        values = [(one.x, x_log), (one.y, y_log)]
        if self.drawing.figure.marks == RANGES and one.lo is not None:
            values = [(one.lo, x_log), (one.hi, x_log)]
            finite &= np.isfinite(one.lo) & np.isfinite(one.hi)
        elif one.lo is not None and one.hi is not None:
            self.intervals += int((finite & (np.isinf(one.lo) | np.isinf(one.hi))).sum())
        large = finite & np.any([np.abs(part) >= LARGEST for part, _ in values], axis=0)
        self.beyond += int(large.sum())
        for part, is_log in values:
            if is_log:
                self.not_positive += part[finite & ~large & ~(part > 0)].tolist()


def _say_counts(of):
    infinite = len(of.infinite) + of.further
    if infinite:
        yield f"{words.count(infinite, 'value that is', 'values that are')} not finite"
    if of.not_positive:
        what = "0" if not any(of.not_positive) else "not positive"
        count = words.count(len(of.not_positive), 'value that is', 'values that are')
        yield f"{count} {what}, as the axis is logarithmic"
    if of.beyond:
        yield f"{words.count(of.beyond, 'value', 'values')} of 1e150 or more in size"
    if of.intervals:
        yield f"{words.count(of.intervals, 'interval that is', 'intervals that are')} not finite"
    placeless = len(of.placeless) + of.drawing.undrawn
    if placeless:
        yield f"{words.count(placeless, 'row', 'rows')} without a place"


def say(drawing):
    """" Not drawn: 3 values that are not finite; 1 row without a place." or nothing; with the names of panels, series
    and rules that have no place."""
    hidden = [rule.name for panel in drawing.panels for rule in panel.rules
              if rule.name and rule not in rules(drawing, panel)]
    parts = list(_say_counts(_Count(drawing))) + [f"the rule {name}" for name in dict.fromkeys(hidden)]
    parts += [words.listed(drawing.left_out)] if drawing.left_out else []
    text = f" Not drawn: {'; '.join(parts)}." if parts else ""
    unlisted = [label for label, _ in legend(drawing)[ENTRIES:]]
    return text + (f" Not in the legend: {words.listed(unlisted)}." if unlisted else "")
