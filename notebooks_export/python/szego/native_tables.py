"""Tables of the library (`szg_table *`) as this package's: the same types, masks and descriptions as of load().

A column is copied by one call, so that the number of rows costs no calls. What is made here owns its numbers:
the library's table may be closed afterwards.
"""
import ctypes
from typing import Dict, Mapping, Optional

import numpy as np

from . import layout, native
from .tables import EMPTY_INTEGER, Results, Table, collect

_READERS = {"text": ("szg_table_get_texts", np.uintp), "integer": ("szg_table_get_integers", np.int64),
            "real": ("szg_table_get_reals", np.float64)}
_TYPES = {value: name for name, (_, value) in layout.COLUMN_TYPES.items()}


def results(command: str, tables: Mapping[str, Optional[int]]) -> Results[Table]:
    """The tables of one call by COMMAND_TABLE, as load() gives those of the command's folder; `result` is ".".

    tables: addresses of szg_table by the name of the table ("claims"), None or 0 for one that was not filled,
    which is left out. docs has what each column means; provenance["."] the command, version and commit.
    """
    library = native.library()
    made = Results()
    made.provenance["."] = {"command": command, "version": library.szg_version().decode(),
                            "commit": library.szg_commit().decode()}
    word = command.replace("-", "_")
    found = {f"{word}_{name}": Copied(table) for name, table in tables.items() if table}
    made.main = f"{word}_{word}" if f"{word}_{word}" in found else ""
    return collect(found, made, False)


class Copied:
    """One table, copied column by column. It stands where `collect` takes joined tables."""

    def __init__(self, table: int):
        library = native.library()
        self.rows, self.name = library.szg_table_rows(table), library.szg_table_name(table).decode()
        self.columns: Dict[str, np.ndarray] = {}
        self.docs: Dict[str, str] = {}
        self.ends: Dict[str, str] = {}  # the library keeps them for its own files
        for index in range(library.szg_table_columns(table)):
            described = ctypes.cast(library.szg_table_column(table, index),
                                    ctypes.POINTER(layout.TableColumn)).contents
            name = described.name.decode()
            self.columns[name] = _column(table, index, _TYPES[described.type], self.rows)
            self.docs[name] = described.doc.decode()

    def _names(self) -> Dict[str, str]:
        """What a column is called: `result` is the first column's name already."""
        own = "result"
        while own in self.columns:
            own += "_"
        return {name: own if name == "result" else name for name in self.columns}

    def arrays(self) -> Dict[str, np.ndarray]:
        """Arrays by column."""
        first = np.empty(self.rows, object)
        first[:] = "."
        return {"result": first, **{shown: self.columns[name] for name, shown in self._names().items()}}

    def described(self) -> Dict[str, str]:
        """What each column means."""
        return {"result": "the result's folder",
                **{shown: self.docs[name] for name, shown in self._names().items()}}


def _column(table: int, index: int, kind: str, rows: int) -> np.ndarray:
    """int64, float64 or an object array of str; masked where a cell is empty, if one is."""
    reader, dtype = _READERS[kind]
    values, empty = np.empty(rows, dtype), np.empty(rows, bool)
    getattr(native.library(), reader)(table, index, values.ctypes.data, empty.ctypes.data)
    if kind == "text":
        values = _texts(values)
    elif kind == "integer":
        values[empty] = EMPTY_INTEGER
    return np.ma.MaskedArray(values, mask=empty) if empty.any() else values


def _texts(addresses: np.ndarray) -> np.ndarray:
    """Texts by their addresses, each decoded once; "" for none."""
    each, which = np.unique(addresses, return_inverse=True)
    words = np.empty(len(each), object)
    words[:] = [ctypes.string_at(int(one)).decode("utf-8", "replace") if one else "" for one in each]
    return words[which]
