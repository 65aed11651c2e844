"""Tables of cells, joined over results and turned into arrays or frames."""
import difflib
import importlib
import math
import os
import re
from typing import TYPE_CHECKING, Any, Dict, Generic, Iterator, List, Optional, Sequence, Tuple, TypeVar

import numpy as np

from . import display
from .choices import Array, Path
from .errors import DataError, SzegoError

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")

#: What each type of a manifest is widened to, in this order.
TYPES = ("integer", "real", "text")

#: What lies under the mask where an integer column has an empty cell: no count, layer or step.
EMPTY_INTEGER = np.iinfo(np.int64).min

_INTEGER = re.compile(r"-?[0-9]{1,19}")
#: Reals that are doubles; _WIDE: those too that may lie beyond their range.
_REAL = re.compile(r"[-+]?(?:[0-9]{1,99}\.?[0-9]{0,99}|\.[0-9]{1,99})(?:[eE][-+]?[0-9]{1,2})?|[-+]?inf|-?nan")
_WIDE = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
#: What needs no second look: integers of more digits may leave 64 bits.
_SURE = {"integer": re.compile(r"-?[0-9]{1,18}"), "real": _REAL}


def kind(column):
    """"text", "integer" or "real"."""
    return {"i": "integer", "u": "integer", "f": "real"}.get(np.ma.getdata(column).dtype.kind, "text")


class Table(dict[str, Array]):
    """A dict of arrays by column, which shows itself in a few lines."""

    def frame(self) -> "DataFrame":
        """The table as a pandas DataFrame: integers are Int64, empty cells <NA>, NaN and None."""
        pandas = _package("Table.frame")
        return pandas.DataFrame({name: _series(pandas, column) for name, column in self.items()})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A stream of Arrow, as polars.DataFrame(table) and pyarrow.table(table) take it. A complex column is two, NAME_re
        and NAME_im. SzegoError: pyarrow, which makes it, is missing or older than 14."""
        arrow = _package("Arrow", "pyarrow")
        columns = {}
        for name, cells in self.parts().items():
            mask = np.ma.getmaskarray(cells)
            columns[name] = arrow.array(np.ma.getdata(cells), mask=mask if mask.any() else None)
        return arrow.table(columns).__arrow_c_stream__(requested_schema)

    def parts(self) -> "Table":
        """The table with two real columns, NAME_re and NAME_im, for a complex one."""
        made = Table()
        for name, cells in self.items():
            is_complex = np.ma.getdata(cells).dtype.kind == "c"
            made.update({f"{name}_re": cells.real, f"{name}_im": cells.imag} if is_complex else {name: cells})
        return made

    def copy(self) -> "Table":
        """Another dict of the same arrays."""
        return Table(self)

    def __repr__(self) -> str:
        return display.table_repr(self)

    def _repr_html_(self) -> str:
        return display.table_html(self)


class Results(dict[str, T], Generic[T]):
    """A dict of tables by COMMAND_TABLE ("spectrum_eigenvalues"): each a Table, which is a dict of arrays
    by column, or a DataFrame; a type checker knows them as Results[Table] and Results[DataFrame]. Beside it:

    docs: {table: {column: what it means}};
    ends: {table: {column: "lower" or "upper"}} of the columns that are an end of an enclosure;
    provenance: {path of a result: how it was made};
    skipped: messages of the results that were left out (load with strict=False);
    messages: what the program said while it computed them (szego.run).
    """

    def __init__(self) -> None:
        super().__init__()
        self.docs: Dict[str, Dict[str, str]] = {}
        self.ends: Dict[str, Dict[str, str]] = {}
        self.provenance: Dict[str, Dict[str, Any]] = {}
        self.skipped: List[str] = []
        self.messages: List[str] = []
        self.main = ""  # the table that has the answer

    def frame(self, table: Optional[str] = None) -> "DataFrame":
        """One of the tables as a pandas DataFrame. None: the only one, or that of szego.kernel."""
        if table is None:
            if len(self) != 1 and self.main not in self:
                raise SzegoError(f"frame: of which table? There is {', '.join(sorted(map(str, self))[:8]) or 'none'}")
            table = self.main or next(iter(self))
        if table not in self:
            close = difflib.get_close_matches(str(table), map(str, self), 1) or sorted(map(str, self))[:8]
            raise SzegoError(f"no table {table!r}: there is {', '.join(close) or 'none'}")
        found = self[table]
        return found if hasattr(found, "iloc") else Table(found).frame()

    def save(self, folder: Path) -> None:
        """Writes the tables into a folder: szego.load reads them back exactly, and `szego report` draws them. Tables of one
        result become a folder as its command writes one, those of several an export. What an earlier call wrote there
        is replaced; a folder with a result of another command is refused."""
        from .native import library  # pylint: disable=import-outside-toplevel # these import this module
        from .arguments import folder_name
        from .saved import save
        if not all(isinstance(found, dict) for found in self.values()):
            raise SzegoError("the tables are frames, whose types are not those of the result: load it without frames=True")
        save(self, folder_name(folder), library().szg_version().decode(), library().szg_commit().decode())

    def __repr__(self) -> str:
        return display.results_repr(self)

    def _repr_html_(self) -> str:
        return display.results_html(self)


class Column:
    """One column of one result: its cells are texts as in CSV, None where empty. end: of an enclosure."""

    def __init__(self, name: str, kind: str, doc: str, cells: Sequence[Optional[str]], end: Optional[str] = None):
        self.name, self.kind, self.doc, self.cells, self.end = name, kind, doc, cells, end

    def check(self, place: str) -> None:
        """Refuses a cell that is not of the column's type."""
        if self.kind == "text":
            return
        known = set(self.cells) - {None}
        if all(map(_SURE[self.kind].fullmatch, known)):
            return
        fits = _is_integer if self.kind == "integer" else _is_real
        bad = {cell for cell in known if not fits(cell)}
        if bad:
            row, cell = next((row, cell) for row, cell in enumerate(self.cells) if cell in bad)
            shown = cell if len(cell) <= 40 else cell[:40] + "..."
            beyond = " within the range of a double" if self.kind == "real" and _WIDE.fullmatch(cell) else ""
            raise DataError(f"{place}: row {row + 2}, column {self.name}: {shown!r} is no {self.kind}{beyond}")


def _is_integer(cell: str) -> bool:
    return (_INTEGER.fullmatch(cell) is not None
            and -2**63 <= int(cell) < 2**63)


def _is_real(cell: str) -> bool:
    """A number that a double would turn into infinity or 0 is none."""
    if _REAL.fullmatch(cell):
        return True
    digits = re.split("[eE]", cell)[0]
    return _WIDE.fullmatch(cell) is not None and not math.isinf(float(cell)) \
        and (float(cell) != 0 or not digits.strip("+-0."))


class Joined:
    """The tables of one command and name, of every result that has one."""

    def __init__(self):
        self.parts: List[Tuple[str, int, Dict[str, Column]]] = []
        self.docs: Dict[str, str] = {}
        self._ends: Dict[str, set] = {}

    @property
    def ends(self) -> Dict[str, str]:
        """Columns that results call an end, none of them the other one; an older result may not say it."""
        return {name: min(said) for name, said in self._ends.items() if len(said) == 1}

    def add(self, result: str, rows: int, columns: Sequence[Column]) -> None:
        for column in columns:
            self.docs.setdefault(column.name, column.doc)
            if column.end:
                self._ends.setdefault(column.name, set()).add(column.end)
        self.parts.append((result, rows, {column.name: column for column in columns}))

    def names(self) -> Dict[str, str]:
        """Columns by what they are called in the results, which is the same but for `result`; the last
        is `note`."""
        own = "result"
        while own in self.docs:
            own += "_"
        return {name: own if name == "result" else name
                for name in sorted(self.docs, key="note".__eq__)}

    def columns(self) -> Iterator[Tuple[str, str, List[Optional[str]]]]:
        """(name, type, cells), `result` first."""
        yield "result", "text", [path for result, rows, _ in self.parts for path in [result] * rows]
        for name, shown in self.names().items():
            yield shown, self._kind(name), self._cells(name)

    def _kind(self, name: str) -> str:
        """The wider type; where an integer is no double beside reals, text."""
        found = [columns[name] for _, _, columns in self.parts if name in columns]
        kinds = {column.kind for column in found}
        if kinds == {"integer", "real"}:
            integers = (int(cell) for column in found if column.kind == "integer"
                        for cell in column.cells if cell is not None)
            return "real" if all(int(float(value)) == value for value in integers) else "text"
        return max(kinds, key=TYPES.index)

    def _cells(self, name: str) -> List[Optional[str]]:
        cells: List[Optional[str]] = []
        for _, rows, columns in self.parts:
            cells.extend(columns[name].cells if name in columns else [None] * rows)
        return cells

    def arrays(self) -> Dict[str, np.ndarray]:
        return {name: array(kind, cells) for name, kind, cells in self.columns()}

    def described(self) -> Dict[str, str]:
        """What each column means."""
        return {"result": "the result's folder",
                **{shown: self.docs[name] for name, shown in self.names().items()}}


class Exported(Joined):
    """A table of an export: it was joined when it was written, `result` is a column of its own."""

    def columns(self) -> Iterator[Tuple[str, str, List[Optional[str]]]]:
        for name in self.docs:
            yield name, self._kind(name), self._cells(name)

    def described(self) -> Dict[str, str]:
        return dict(self.docs)


def _package(what: str, name: str = "pandas"):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SzegoError(f"{what} needs {name} (pip install {name}); without it the tables are "
                         "dicts of arrays") from error


def _series(pandas, column):
    """What a frame has for a column: integers keep all their digits, whether cells are empty or not."""
    data, empty = np.ma.getdata(column), np.ma.getmaskarray(column)
    if data.dtype == np.int64:
        return pandas.arrays.IntegerArray(data, empty)  # a DataFrame of a dict copies
    if empty.any() and data.dtype.kind in "fcO":
        data = data.copy()
        data[empty] = None if data.dtype == object else np.nan
    return pandas.Series(data, dtype=data.dtype)  # texts stay what they are, whatever pandas would infer


def array(kind: str, cells: Sequence[Optional[str]]) -> np.ndarray:
    """int64, float64 or an object array of str; masked where a cell is empty, if one is."""
    distinct = list(set(cells))
    if len(distinct) * 4 > len(cells):
        return _each(kind, cells)
    places = {cell: place for place, cell in enumerate(distinct)}
    return _each(kind, distinct)[np.fromiter(map(places.__getitem__, cells), np.intp, len(cells))]


def _each(kind: str, cells: Sequence[Optional[str]]) -> np.ndarray:
    empty = np.fromiter((cell is None for cell in cells), bool, len(cells))
    if kind == "text":
        values = np.empty(len(cells), object)
        values[:] = ["" if cell is None else cell for cell in cells]
    else:
        convert, missing, dtype = (int, EMPTY_INTEGER, np.int64) if kind == "integer" else (float, np.nan, np.float64)
        values = np.fromiter((missing if cell is None else convert(cell) for cell in cells), dtype, len(cells))
    return np.ma.MaskedArray(values, mask=empty) if empty.any() else values


def collect(found: Dict[str, Joined], results: Results, frames: bool) -> Results:
    """Fills `results` with the tables, in the order in which they were found."""
    if frames:
        _package("frames=True")
    for name, joined in found.items():
        table = Table(joined.arrays())
        results[name] = table.frame() if frames else table
        results.docs[name] = joined.described()
        results.ends[name] = joined.ends
    return results
