"""CSV as szego writes it (RFC 4180, UTF-8), with what Python's own reader loses: an empty cell is
None, an empty text is ''."""
import re
from typing import Dict, List, Optional, Tuple

from .errors import DataError

_CELL = re.compile(r'"((?:[^"]|"")*)"(?=[,\r\n]|$)|([^",\r\n]*)')

Cell = Optional[str]
_BLOCK = 16384  # rows


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
    """(header, cells by column). Equal cells of a column are one object where many are equal, and rows are kept no
    longer than a block of them: a table of 10^6 rows takes some 300 MB."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: byte {error.start}: not UTF-8") from None
    del data
    if "\0" in text:
        raise DataError(f"{name}: holds a NUL")
    header: Optional[List[Cell]] = None
    columns: List[List[Cell]] = []
    block: List[List[Cell]] = []
    known: Dict[Cell, Cell] = {}
    at = number = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if text.find('"', at, end) < 0:
            row = _plain(text[at:end])
            at = end + 1
        else:
            row, at = _quoted(text, at, name, number + 1)
        number += 1
        if header is None:
            header, columns = row, [[] for _ in row]
            continue
        if len(row) != len(header):
            raise DataError(f"{name}: row {number} has {len(row)} cells where the header has {len(header)}")
        block.append(row)
        if len(block) == _BLOCK:
            _take(block, columns, known)
    if header is None:
        raise DataError(f"{name}: is empty: a header is expected")
    _take(block, columns, known)
    return header, columns


def _take(block: List[List[Cell]], columns: List[List[Cell]], known: Dict[Cell, Cell]) -> None:
    """Moves the rows of a block behind the columns."""
    for column, cells in zip(columns, zip(*block)):
        if len(set(cells)) * 4 <= len(cells):
            cells = tuple(known.setdefault(cell, cell) for cell in cells)
        column.extend(cells)
    block.clear()
