"""A folder of a monitor's rows, which grows by a few lines at each observed step.

It is a folder of results as every command writes one (docs/reference/formats.md). Lines are appended and on the disk
before the manifest counts them. After an interruption between the two, lines that are not counted are cut off.
"""
import json
import os
from typing import Any, Dict, List, Sequence

import numpy as np

from .. import native
from ..columns import own_tables
from ..errors import ArgumentError, DataError, SzegoError
from ..files import locked, replace_result, replaced
from ..folders import FORMAT, _read_file as read_file, is_there, load, read_json
from ..head import row as row_of
from ..notebook.joined import lines
from ..tables import Table

NAME = "monitor"
_LIMIT = 1 << 20


class Journal:
    """The folder of one process. settings: what must agree where it goes on.

    ArgumentError: the folder holds the rows of other settings, or another result."""

    def __init__(self, folder: str, settings: Dict[str, Any]) -> None:
        self.folder, self.settings = folder, settings
        self._csv, self._manifest = (os.path.join(folder, name) for name in (f"{NAME}.csv", "manifest.json"))
        self.count, self._size = 0, -1  # rows and bytes that the manifest counts; -1: there is no file yet
        self._torn = False  # whether lines may be there that could not be taken back
        self.rows: List[Dict[str, Any]] = []  # those of an earlier process
        if is_there(self._manifest):
            self._go_on()

    # ---- An earlier process ----

    def _go_on(self) -> None:
        found = read_json(read_file(self._manifest, _LIMIT), self._manifest)
        if not isinstance(found, dict) or (found.get("format"), found.get("command")) != (FORMAT, NAME):
            raise ArgumentError(f"{self._manifest}: is there, and not of a monitor: choose another folder", "SZG_EINVAL")
        before = found.get("provenance", {}).get("settings", {})
        unlike = [f"{name} was {before.get(name)!r} and is {self.settings[name]!r}" for name in self.settings
                  if before.get(name) != self.settings[name]]
        if unlike:
            raise ArgumentError(f"{self.folder}: holds a monitor of other settings: {', '.join(unlike)}: choose another folder",
                                "SZG_EINVAL")
        try:
            self.count = int(found["tables"][0]["rows"])
        except (KeyError, IndexError, TypeError, ValueError):
            raise DataError(f"{self._manifest}: names no table with its rows: choose another folder") from None
        self._cut()
        self.rows = rows_of(load(self.folder)[f"{NAME}_{NAME}"])

    def _cut(self) -> None:
        """Without lines that the manifest does not count. A row is one line."""
        with open(self._csv, "rb+") as file:
            for _ in range(self.count + 1):
                if not file.readline().endswith(b"\n"):
                    raise DataError(f"{self._csv}: has less than the {self.count} rows that manifest.json counts: choose another "
                                    "folder")
            self._size = file.tell()
            file.truncate()

    # ---- Writing ----

    @property
    def lost(self) -> bool:
        """Whether its files were removed meanwhile, or end in the middle of a row."""
        return self._torn or self._size >= 0 and not is_there(self._csv)

    def append(self, table: Table) -> None:
        """Rows, durably. SzegoError: nothing of them was written."""
        header, *new = (line + "\n" for line in lines(table))
        with locked(self.folder):
            if self._size < 0:
                self._write([header, *new], len(new))
                return
            if os.stat(self._csv).st_size != self._size:
                raise SzegoError(f"{self._csv}: another process has changed it: give each monitor its own folder")
            self._extend("".join(new).encode(), len(new))

    def rewrite(self, table: Table) -> None:
        """All rows anew: a training that has gone back has other ones, and files may be lost."""
        with locked(self.folder):
            self._write([line + "\n" for line in lines(table)], len(table["step"]))

    def _write(self, text: Sequence[str], count: int) -> None:
        replace_result(self.folder, {f"{NAME}.csv": text}, self._described(count))
        self.count, self._size, self._torn = count, os.stat(self._csv).st_size, False

    def _extend(self, new: bytes, count: int) -> None:
        try:
            with replaced(self._manifest) as manifest:  # takes its place after the rows are on the disk
                manifest.write(self._described(self.count + count))
                manifest.flush()
                os.fsync(manifest.fileno())
                with open(self._csv, "ab") as file:
                    file.write(new)
                    file.flush()
                    os.fsync(file.fileno())
        except BaseException as error:
            try:
                os.truncate(self._csv, self._size)
            except OSError:  # the first error says more
                self._torn = True
            if isinstance(error, OSError):
                raise SzegoError(f"{self.folder}: cannot be written: {error.strerror or error}") from None
            raise
        self.count, self._size = self.count + count, self._size + len(new)

    def _described(self, count: int) -> str:
        library = native.library()
        columns = [{key: one[key] for key in ("name", "type", "end", "doc") if key in one}
                   for one in own_tables(NAME)[NAME]["columns"]]
        provenance = {"version": library.szg_version().decode(), "commit": library.szg_commit().decode(), "command": NAME,
                      "settings": self.settings}
        tables = [{"name": NAME, "file": f"{NAME}.csv", "rows": count, "columns": columns}]
        return json.dumps({"format": FORMAT, "command": NAME, "provenance": provenance, "tables": tables}, indent=2,
                          ensure_ascii=False) + "\n"


def rows_of(table: Table) -> List[Dict[str, Any]]:
    """The rows of a table that was read."""
    columns = {name: cells for name, cells in table.items() if name != "result"}
    return [row_of(columns, at) for at in range(len(np.ma.getdata(table["step"])))]
