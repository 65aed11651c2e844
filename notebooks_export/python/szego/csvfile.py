"""CSV as szego writes it (RFC 4180, UTF-8), with what Python's own reader loses: an empty cell is
None, an empty text is ''."""
import re
from typing import List, Optional

from .errors import DataError

_CELL = re.compile(r'"((?:[^"]|"")*)"(?=[,\r\n]|$)|([^",\r\n]*)')

Cell = Optional[str]


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
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: byte {error.start}: not UTF-8") from None
    if "\0" in text:
        raise DataError(f"{name}: holds a NUL")
    rows: List[List[Cell]] = []
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if text.find('"', at, end) < 0:
            rows.append(_plain(text[at:end]))
            at = end + 1
        else:
            row, at = _quoted(text, at, name, len(rows) + 1)
            rows.append(row)
        if len(rows[-1]) != len(rows[0]):
            raise DataError(f"{name}: row {len(rows)} has {len(rows[-1])} cells where the header has "
                            f"{len(rows[0])}")
    if not rows:
        raise DataError(f"{name}: is empty: a header is expected")
    return rows
