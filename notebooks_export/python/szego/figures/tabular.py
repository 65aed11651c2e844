"""Tables for readers: the cells of listings and grids as texts, for the page and for notebooks."""
import math
from typing import NamedTuple, Optional

from . import words


class Cell(NamedTuple):
    """exact: the whole number, where the text is shorter. number: it is set as one."""
    text: str
    exact: Optional[str] = None
    number: bool = False


def listed_columns(block):
    """The columns of a listing that have a cell."""
    return [name for name in block.columns or block.rows.source.names
            if block.rows.has(name) and len(block.rows.filled(name))]


def listed_cells(block, ends):
    """Rows of cells of these columns. ends: {column: "lower" or "upper"}, of ends of enclosures."""
    columns = listed_columns(block)
    return [[_cell(block.rows, name, i, ends.get(name)) for name in columns]
            for i in range(min(len(block.rows), block.most))]


def unlisted(block):
    """How many rows more there are, of which readers are told."""
    return max(len(block.rows) - block.most, 0) if block.linked else 0


def grid_numbers(block):
    """For each column of a grid, whether it is set as numbers."""
    return list(block.numbers) or [False] * len(block.head)


def grid_cells(block):
    """Rows of cells of a grid."""
    return [[Cell(*(cell if isinstance(cell, tuple) else (cell, None)), number)
             for cell, number in zip(cells, grid_numbers(block))] for cells in block.cells]


def _cell(rows, column, i, end):
    cell = rows.cell(column, i)
    if cell is None or isinstance(cell, str):
        return Cell(cell or "")
    exact = words.exact(cell)
    if not math.isfinite(cell):
        return Cell(exact, None, True)
    rounding = {"lower": words.lower, "upper": words.upper}.get(end)
    shown = rounding(cell) if rounding else words.signed(f"{cell:.6g}") if len(exact) > 15 or cell != int(cell) else exact
    return Cell(shown, exact if shown != exact else None, True)
