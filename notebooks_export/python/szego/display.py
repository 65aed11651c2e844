"""How results show themselves: a few lines as text, a small table in notebooks.

A class of results gets `_repr_html_` from `Shown`. A dataclass needs no more than the base:

    @dataclass(frozen=True, eq=False, repr=False)
    class Spectrum(Shown):
        ...

HTML has no colours, fonts or resources of its own, so that it follows the notebook's theme. Whatever is
shown is cut to a line and escaped: names and notes come from files of others.
"""
import dataclasses
import html
import numbers
from typing import Iterator, List, Mapping, Sequence, Tuple

import numpy as np

#: What a repr and a table in a notebook have at most.
LINES, ROWS, COLUMNS, CHARACTERS = 24, 10, 12, 80


# ---- Texts --------------------------------------------------------------------------------------


def plain(value, most: int = CHARACTERS) -> str:
    """One line of at most `most` characters: what cannot be printed, as a break or a change of the
    writing direction, is U+FFFD."""
    text = value if isinstance(value, str) else str(value)
    text = text if len(text) <= most else text[:most - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def escape(value, most: int = CHARACTERS) -> str:
    """`plain`, safe within HTML."""
    return html.escape(plain(value, most))


def count(number: int, one: str, many: str = "") -> str:
    """"1 row", "3 rows" """
    return f"{number} {one if number == 1 else many or one + 's'}"


def _and_more(left: int, one: str) -> str:
    return f"and {count(left, 'more ' + one)}"


def number(value, exact: bool = False) -> str:
    """Six digits; `exact`: as many as read it back, for the end of an enclosure must not move."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Number):
        return plain(value)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value)) if exact else f"{float(value):.6g}"
    return f"{complex(value):.6g}"


def _value(value, exact: bool = False) -> str:
    """A field in a few words."""
    if isinstance(value, np.ndarray) and value.dtype == object:  # a text for each matrix of a stack
        return plain("; ".join(dict.fromkeys(map(str, value.flat))), 4 * CHARACTERS)
    if isinstance(value, np.ndarray):
        if value.ndim != 1:
            return f"{value.dtype}, shape {value.shape}"
        some = [number(one, exact) for one in (value if len(value) <= 4 else [*value[:2], value[-1]])]
        if len(value) > 4:
            some.insert(2, "\N{HORIZONTAL ELLIPSIS}")
        return f"{count(len(value), 'value')}: {', '.join(some)}" if len(value) else "no values"
    if isinstance(value, (numbers.Number, np.bool_)):
        return number(value, exact)
    if isinstance(value, tuple):
        return plain("; ".join(dict.fromkeys(map(str, value))), 4 * CHARACTERS)
    if isinstance(value, Mapping) and hasattr(value, "_repr_html_"):
        return repr(value).splitlines()[0].strip("<>")
    if isinstance(value, Mapping):
        return ", ".join(f"{plain(name, 24)} {_value(one, exact)}" for name, one in value.items())
    return plain(value._brief() if isinstance(value, Shown) else value, 4 * CHARACTERS)


# ---- HTML ---------------------------------------------------------------------------------------

_LEFT = ' style="text-align:left"'
_LINE = ' style="text-align:{};white-space:nowrap"'


def html_rows(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> str:
    """A table of texts, which are escaped here. right: whether a column's cells stand at the right;
    then none of them is broken into lines."""
    style = [_LINE.format("right" if side else "left") for side in right] or [_LEFT] * len(heads)
    lines = ["<table>"]
    if any(heads):
        lines.append("<thead><tr>" + "".join(f"<th{of}>{escape(head)}</th>" for of, head in zip(style, heads))
                     + "</tr></thead>")
    lines.append("<tbody>")
    for row in rows:
        lines.append("<tr>" + "".join(f"<td{of}>{escape(cell, 4 * CHARACTERS)}</td>"
                                      for of, cell in zip(style, row)) + "</tr>")
    return "\n".join([*lines, "</tbody></table>"])


def html_box(title: str, *parts: str) -> str:
    """A title, which is escaped here, and HTML below it; what is wide scrolls."""
    return "\n".join([f'<div style="max-width:100%;overflow-x:auto"><div><strong>{escape(title, 160)}</strong></div>',
                      *(part for part in parts if part), "</div>"])


def html_note(text: str) -> str:
    """A line below a table."""
    return f"<div><small>{escape(text, 4 * CHARACTERS)}</small></div>" if text else ""


class Shown:
    """A result that notebooks show as its repr and a table of its fields.

    `_facts` may be overridden: (name, value) of each line; `_brief`: what another result's line says of this
    one. `_exact`: real numbers have all their digits, as the ends of enclosures need.
    """
    _exact = False

    def _brief(self) -> str:
        return repr(self)

    def _facts(self) -> Iterator[Tuple[str, object]]:
        """The fields that are not private and not None."""
        for one in dataclasses.fields(self):
            value = getattr(self, one.name)
            if not one.name.startswith("_") and value is not None:
                yield one.name, value

    def _repr_html_(self) -> str:
        rows = [(name, _value(value, self._exact)) for name, value in self._facts()]
        title = repr(self)
        return html_box(title.strip("<>") if title.startswith("<") else f"szego.{type(self).__name__}",
                        html_rows(("", ""), rows))


# ---- Tables and dicts of tables -----------------------------------------------------------------


def rows_of(table) -> int:
    """Rows of a dict of columns or of a DataFrame."""
    if isinstance(table, Mapping):
        return max((len(_array(column)) for column in table.values()), default=0)
    return len(table) if hasattr(table, "__len__") else 0


def _results_of(table) -> int:
    """How many results a joined table has rows of."""
    if not isinstance(table, Mapping) and not hasattr(table, "columns"):
        return 0
    try:
        return len(set(np.ma.getdata(table["result"]).tolist() if isinstance(table, Mapping) else table["result"]))
    except (KeyError, TypeError, AttributeError):
        return 0


def _columns_of(table) -> int:
    columns = table if isinstance(table, Mapping) else getattr(table, "columns", ())
    return len(columns)


def _overview(tables: Mapping) -> List[Tuple[str, str, str, str]]:
    """(name, rows, columns, results) of the first tables."""
    first = list(tables.items())[:LINES]
    return [(plain(name, 60), count(rows_of(table), "row"), count(_columns_of(table), "column"),
             count(_results_of(table), "result")) for name, table in first]


def _left_out(tables) -> List[str]:
    said = [_and_more(len(tables) - LINES, "table")] if len(tables) > LINES else []
    if tables.skipped:
        said.append(f"{count(len(tables.skipped), 'result was', 'results were')} left out: see skipped")
    return said


def _title(tables) -> str:
    of = f" of {count(len(tables.provenance), 'result')}" if tables.provenance else ""
    return f"szego.Results: {count(len(tables), 'table')}{of}"


def results_repr(tables) -> str:
    """A line a table."""
    cells = _overview(tables)
    widths = [max((len(row[k]) for row in cells), default=0) for k in range(4)]
    lines = ["  " + "  ".join([row[0].ljust(widths[0]), *(row[k].rjust(widths[k]) for k in (1, 2, 3))])
             for row in cells]
    return "\n".join([f"<{_title(tables)}>", *lines, *("  " + text for text in _left_out(tables))])


def results_html(tables) -> str:
    """A row a table."""
    cells = [(name, *(text.split()[0] for text in rest)) for name, *rest in _overview(tables)]
    return html_box(_title(tables), html_rows(("table", "rows", "columns", "results"), cells,
                                              (False, True, True, True)),
                    html_note("; ".join(_left_out(tables))))


def _array(column) -> np.ndarray:
    """The column; whatever else a caller put into the dict is one cell, or as many as it has."""
    if isinstance(column, np.ndarray) and column.ndim == 1:
        return column
    cells = [plain(one) for one in column] if isinstance(column, (list, tuple)) else [_value(column)]
    made = np.empty(len(cells), object)
    made[:] = cells
    return made


def _kind(column) -> str:
    """"text", "int64", ..., and how many cells are empty."""
    data = np.ma.getdata(column)
    kind = "text" if data.dtype == object else str(data.dtype)
    empty = int(np.ma.getmaskarray(column).sum())
    return f"{kind}, {empty} empty" if empty else kind


def _cell(name, column, row: int) -> str:
    """"" of an empty cell, or of none. Ends of enclosures have every digit."""
    one = column[row] if row < len(column) else ""
    exact = str(name).endswith(("_lo", "_hi")) or name in ("lo", "hi")
    return "" if one is np.ma.masked else number(one, exact)


def _example(name, column) -> str:
    some = [_cell(name, column, row) for row in range(min(3, len(column)))]
    shown = ", ".join(plain(text, 24) if text else "empty" for text in some)
    return shown + (", \N{HORIZONTAL ELLIPSIS}" if len(column) > 3 else "")


def _table_title(table) -> str:
    return f"szego.Table: {count(rows_of(table), 'row')}, {count(len(table), 'column')}"


def table_repr(table) -> str:
    """A line a column: its type, and its first cells."""
    columns = [(name, _array(column)) for name, column in list(table.items())[:LINES]]
    shown = [(plain(name, 40), _kind(column), _example(name, column)) for name, column in columns]
    widths = [max((len(row[k]) for row in shown), default=0) for k in range(2)]
    lines = [f"  {name.ljust(widths[0])}  {kind.ljust(widths[1])}  {some}".rstrip() for name, kind, some in shown]
    if len(table) > LINES:
        lines.append("  " + _and_more(len(table) - LINES, "column"))
    return "\n".join([f"<{_table_title(table)}>", *lines])


def table_html(table) -> str:
    """The first rows, of many columns those in which they differ, and how many are left out."""
    rows, arrays = rows_of(table), {name: _array(column) for name, column in table.items()}
    first = {name: [plain(_cell(name, column, row), 40) for row in range(min(rows, ROWS))]
             for name, column in arrays.items()}
    telling = sorted(table, key=lambda name: len(set(first[name])) < 2)[:COLUMNS]
    names = [name for name in table if name in telling]
    cells = list(zip(*(first[name] for name in names)))
    right = [arrays[name].dtype != object for name in names]
    left = [count(most, "more " + what) for most, what in ((rows - ROWS, "row"), (len(table) - COLUMNS, "column"))
            if most > 0]
    return html_box(_table_title(table), html_rows(names, cells, right),
                    html_note("and " + ", ".join(left) if left else ""))


# ---- Screens ------------------------------------------------------------------------------------

_TEXT, _GAP = 24, "  "  # characters of a cell with a text; what stands before each cell


def _short(column, row: int) -> str:
    text = column.cells[row]
    if text is None or column.kind == "integer":
        return text or ""
    return plain(text, _TEXT) if column.kind == "text" else f"{float(text):.4g}"


def _screen_cell(cell: Mapping, columns: Mapping, row: int) -> str:
    """A range is "[lower, upper]", empty where an end is."""
    ends = ("lower", "upper") if cell["kind"] == "range" else ("name",)
    shown = [_short(columns[cell[end]], row) for end in ends]
    if not all(shown):
        return ""
    return f"[{', '.join(shown)}]" if len(ends) > 1 else shown[0]


def _fitting(cells: Sequence[Mapping], widths: Sequence[int], width: int) -> List[int]:
    """Which cells a line has room for: those of priority 1 first, of equal ones the earlier; one at least."""
    kept = list(range(len(cells)))
    while len(kept) > 1 and sum(len(_GAP) + widths[k] for k in kept) > width:
        kept.remove(max(kept, key=lambda k: (cells[k]["priority"], k)))
    return kept


def screen(table: str, cells: Sequence[Mapping], columns: Mapping, width: int) -> str:
    """A table as lines for a terminal, which shows of it what its "screen" in tables.json says.

    cells: that list; a cell without a value in any row is left out. columns: {name: its `kind`, and its `cells` as
    texts, None where empty}; width: characters that a line has room for. A last line counts what it has no room for.
    """
    rows = range(max(len(column.cells) for column in columns.values()))
    shown = [[cell["heading"], *(_screen_cell(cell, columns, row) for row in rows)] for cell in cells]
    used = [k for k, texts in enumerate(shown) if any(texts[1:])]
    widths = [max(map(len, shown[k])) for k in used]
    kept = _fitting([cells[k] for k in used], widths, width)
    left = [cells[used[k]]["kind"] != "range" and columns[cells[used[k]]["name"]].kind == "text" for k in kept]
    lines = [table]
    for texts in zip(*(shown[used[k]] for k in kept)):
        padded = [text.ljust(widths[k]) if one else text.rjust(widths[k]) for text, k, one in zip(texts, kept, left)]
        lines.append((_GAP + _GAP.join(padded)).rstrip())
    if len(kept) < len(used):
        lines.append(_GAP + _and_more(len(used) - len(kept), "column") + ": a wider screen shows more, -o DIR/ has all")
    return "\n".join(lines)
