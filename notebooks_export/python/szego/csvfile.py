"""CSV as szego writes it (RFC 4180, UTF-8), with what Python's own reader loses: an empty cell is
None, an empty text is ''."""
import re
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

from .errors import DataError

_CELL = re.compile(r'"((?:[^"]|"")*)"(?=[,\r\n]|$)|([^",\r\n]*)')

Cell = Optional[str]
_STRETCH = 1 << 18  # characters


def field(cell: Cell) -> str:
    """A cell as it is written: quoted where RFC 4180 asks for it, and where it is an empty text and no empty cell."""
    if cell is None:
        return ""
    return '"' + cell.replace('"', '""') + '"' if not cell or any(sign in cell for sign in ',"\r\n') else cell


def _plain(line: str) -> List[Cell]:
    if line.endswith("\r"):
        line = line[:-1]
    return [cell or None for cell in line.split(",")]


def _quoted(text: str, at: int, name: str, number: int):
    """(the row that begins at `at`, where the next one begins)."""
    row: List[Cell] = []
    while True:
        match = _CELL.match(text, at)
        quoted, bare = match.groups()
        at = match.end()
        row.append(quoted.replace('""', '"') if quoted is not None else bare or None)
        if at == len(text):
            return row, at
        if text[at] == ",":
            at += 1
        elif text[at] == "\n":
            return row, at + 1
        elif text.startswith("\r\n", at):
            return row, at + 2
        else:
            raise DataError(f"{name}: row {number}, column {len(row)}: a quote inside a cell that is "
                            "not quoted, or one that is not closed")


def read(data: bytes, name: str) -> List[List[Cell]]:
    """The rows, the header among them. Rows of another length than the header are refused."""
    header, columns = read_columns(data, name)
    return [header, *map(list, zip(*columns))]


def read_columns(data: bytes, name: str) -> Tuple[List[Cell], List[List[Cell]]]:
    """(header, cells by column). Equal cells of a column are one object where many are equal, and the text is cut a
    stretch of lines at a time: a table of 10^6 rows takes some 300 MB."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: byte {error.start}: not UTF-8") from None
    del data
    if "\0" in text:
        raise DataError(f"{name}: holds a NUL")
    if not text:
        raise DataError(f"{name}: is empty: a header is expected")
    header, at = _row(text, 0, name, 1)
    columns: List[List[Cell]] = [[] for _ in header]
    known: Dict[Cell, Cell] = {}
    while at < len(text):
        end = text.find("\n", at + _STRETCH) + 1 or len(text)
        stretch = _bare_columns(text[at:end], len(header))
        if stretch:
            at = end
        else:
            stretch, at = _any_columns(text, at, end, name, len(columns[0]) + 2, len(header))
        for column, cells in zip(columns, stretch):
            column.extend(_shared(cells, known))
    return header, columns


def _bare_columns(lines: str, width: int) -> Optional[List[List[Cell]]]:
    """The cells of whole lines by column; None where a cell is quoted, or a line has another number of cells: it is
    read row by row, for what its error says."""
    if '"' in lines or "\r" in lines:
        return None
    # A line's end becomes a cell of its own: it follows `width` cells wherever no line is longer or shorter.
    cells = (lines[:-1] if lines.endswith("\n") else lines).replace("\n", ",\n,").split(",")
    if (len(cells) + 1) % (width + 1) or cells[width::width + 1].count("\n") != len(cells) // (width + 1):
        return None
    return [_emptied(cells[i::width + 1]) for i in range(width)]


def _emptied(cells: List[Cell]) -> List[Cell]:
    return [cell or None for cell in cells] if "" in cells else cells


def _any_columns(text: str, at: int, end: int, name: str, number: int, width: int):
    """(the cells by column of the rows that begin before `end`, where the next row begins)."""
    rows = []
    while at < end:
        row, at = _row(text, at, name, number + len(rows))
        if len(row) != width:
            raise DataError(f"{name}: row {number + len(rows)} has {len(row)} cells where the header has {width}")
        rows.append(row)
    return list(zip(*rows)), at


def _row(text: str, at: int, name: str, number: int):
    """(the row that begins at `at`, where the next one begins)."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return _quoted(text, at, name, number) if text.find('"', at, end) >= 0 else (_plain(text[at:end]), end + 1)


def _shared(cells: Sequence[Cell], known: Dict[Cell, Cell]) -> Iterable[Cell]:
    """The cells, equal ones as one object where many are equal."""
    distinct = set(cells)
    if len(distinct) * 4 > len(cells):
        return cells
    one = {cell: known.setdefault(cell, cell) for cell in distinct}
    return map(one.__getitem__, cells)
