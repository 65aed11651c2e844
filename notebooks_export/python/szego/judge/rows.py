"""Rows of a judged table while it is made, and the cells as they are written."""
import math
from typing import List, Optional

import numpy as np

from ..tables import Column
from .columns import COLUMNS, SHOWN


class Rows:
    """A table of COLUMNS. A value is a text, an integer or a real; None and NaN leave the cell empty.

    shown: what a screen shows of it; empty: nothing, the table is for files.
    """

    def __init__(self, name: str):
        self.name, self.rows, self.shown = name, [], SHOWN[name]  # type: ignore[var-annotated]
        self._known = {column for column, _, _ in COLUMNS[name]}

    def add(self, **cells) -> None:
        """A row; columns that it does not name are empty."""
        assert cells.keys() <= self._known, cells.keys() - self._known
        self.rows.append(cells)

    def columns(self) -> List[Column]:
        """The cells as texts."""
        return [Column(name, kind, doc, [cell(kind, row.get(name)) for row in self.rows])
                for name, kind, doc in COLUMNS[self.name]]


def cell(kind: str, value) -> Optional[str]:
    """The text of a cell; None: it is empty."""
    if value is None or (isinstance(value, (float, np.floating)) and math.isnan(value)):
        return None
    if kind == "real":
        return real_text(float(value))
    return str(int(value)) if kind == "integer" else value


def real_text(value: float) -> str:
    """The fewest of 15 to 17 digits that read back as the same number."""
    texts = (f"{value:.{digits}g}" for digits in (15, 16, 17))
    return next((text for text in texts if float(text) == value), f"{value:.17g}")


def place(value: Optional[int]) -> Optional[int]:
    """An index; None: it is negative, there is none."""
    return value if value is not None and value >= 0 else None
