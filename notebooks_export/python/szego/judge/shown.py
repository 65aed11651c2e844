"""The judged tables as lines for a terminal: the columns that say most, and where the rest is."""
from typing import List

from ..display import plain
from .rows import Rows

_COLUMNS = {
    "table1": "experiment encoding task1 spread1 seeds1 paper1 task2 spread2 seeds2 paper2",
    "sweep": "experiment task rotated_heads accuracy spread seeds",
    "switches": "experiment like encoding task difference difference_spread pairs",
    "hypotheses": "hypothesis measure layer pairs difference t_low t_high p p_holm decision",
    "length_arms": "encoding scaling words seeds accuracy t_low t_high label_ceiling",
    "relations": "relation kind n correlation lo hi",
}
_TEXT = 24  # characters of a cell


def show(tables: List[Rows]) -> str:
    """The tables that a person reads first."""
    return "\n\n".join(_lines(table) for table in tables if table.name in _COLUMNS and table.rows)


def _lines(table: Rows) -> str:
    by_name = {column.name: column for column in table.columns()}
    columns = [by_name[name] for name in _COLUMNS[table.name].split()
               if any(text is not None for text in by_name[name].cells)]
    grid = [[column.name, *(_cell(column.kind, text) for text in column.cells)] for column in columns]
    widths = [max(map(len, column)) for column in grid]
    lines = ["  ".join(text.ljust(width) if column.kind == "text" else text.rjust(width)
                       for text, width, column in zip(row, widths, columns)).rstrip() for row in zip(*grid)]
    return "\n".join([table.name, *("  " + line for line in lines)])


def _cell(kind: str, text) -> str:
    if text is None:
        return ""
    return plain(text, _TEXT) if kind == "text" else text if kind == "integer" else f"{float(text):.4g}"
