"""What has tables as items (found["verify_claims"], `in`, iteration, keys() and items()), what is a table itself, and
what is an array."""
import dataclasses
from typing import TYPE_CHECKING, Any, Dict, ItemsView, Iterator, KeysView, List, Optional, Sequence

import numpy as np

from .choices import Array, Path
from .tables import EMPTY_INTEGER, Results, Table

if TYPE_CHECKING:
    from pandas import DataFrame


def for_numpy(values: Array, dtype: Any, copy: Optional[bool]) -> Array:
    """What __array__ answers under NumPy 2's protocol: a copy (copy=True), the memory of `values` or ValueError
    (False), that memory where the type allows it (None)."""
    if dtype is None or np.dtype(dtype) == values.dtype:
        return values.copy() if copy else values
    if copy is False:
        raise ValueError(f"an array of type {np.dtype(dtype)} needs a copy of one of type {values.dtype}")
    return values.astype(dtype)


def column(values: Sequence) -> np.ndarray:
    """Numbers, texts and None as a column of a table has them: None is an empty cell, a bool an integer."""
    empty = np.array([value is None for value in values], bool)
    known = [value for value in values if value is not None]
    if all(isinstance(value, (bool, int, np.bool_, np.integer)) for value in known) and known:
        made, missing = np.empty(len(values), np.int64), EMPTY_INTEGER
    elif known and not any(isinstance(value, str) for value in known):
        made, missing = np.empty(len(values)), np.nan
    else:
        made, missing = np.empty(len(values), object), ""
    made[:] = [missing if value is None else value for value in values]
    return np.ma.MaskedArray(made, mask=empty) if empty.any() else made


class Framed:
    """The base of a result that is a table too: for pandas, for what reads Arrow (polars), and in a folder."""

    def _table(self) -> Table:
        """A row of the fields that are numbers, texts or empty."""
        fields = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}  # type: ignore[arg-type]
        return Table({name: column([value]) for name, value in fields.items() if not name.startswith("_") and (
            value is None or isinstance(value, (bool, int, float, str, np.generic)))})

    def _results(self) -> Results[Table]:
        """What `save` writes, by COMMAND_TABLE."""
        made, name, table = Results(), type(self).__name__.lower(), self._table().parts()
        rows = len(next(iter(table.values())))
        made[f"{name}_values"] = Table({"result": column(["."] * rows), **table})
        made.provenance["."] = {"command": name}
        return made

    def frame(self) -> "DataFrame":
        """The result as a pandas DataFrame."""
        return self._table().frame()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table().__arrow_c_stream__(requested_schema)

    def save(self, folder: Path) -> None:
        """Writes the result as tables into a folder, which szego.load reads back exactly and `szego report` draws."""
        self._results().save(folder)


class Tabled:
    """The base of a result with the attribute `tables`. _numbers: where its numbers are, for a message; _main: the
    table that it is as a frame."""
    tables: Results[Table]
    _numbers = "`tables`"
    _main = ""

    def frame(self, table: Optional[str] = None) -> "DataFrame":
        """A table as a pandas DataFrame. None: the one that has the answer."""
        return self.tables.frame(self._main if table is None else table)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.tables[self._main].__arrow_c_stream__(requested_schema)

    def save(self, folder: Path) -> None:
        """Writes the tables into a folder, which szego.load reads back exactly and `szego report` draws."""
        self.tables.save(folder)

    def _ipython_key_completions_(self) -> List[str]:
        return list(self.tables)

    def __getitem__(self, table: str) -> Table:
        if not isinstance(table, str):
            raise TypeError(f"the items of a {type(self).__name__} are tables, by name; its numbers are in "
                            f"{self._numbers}")
        return self.tables[table]

    def __contains__(self, table: object) -> bool:
        return table in self.tables

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def keys(self) -> KeysView[str]:
        """Names of the tables."""
        return self.tables.keys()

    def items(self) -> ItemsView[str, Table]:
        """Names and tables."""
        return self.tables.items()

    @property
    def provenance(self) -> Dict[str, Dict[str, Any]]:
        """How the tables were made."""
        return self.tables.provenance
