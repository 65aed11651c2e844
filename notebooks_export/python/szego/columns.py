"""What the columns of szego's tables are called, measured in and bound: as the schemas of the tables say it.

The build writes the schemas to tables.json (lib/base/schema.h describes a column); judge/tables.json and
monitor/tables.json are of the same form and describe the tables that this package itself writes. A column that no table
has, of an earlier version for instance, is called by its name and has no unit."""
import functools
import json
import os
import sys
from typing import Dict, List, Optional

from .errors import LibraryError
from .native import places

NAME = "tables.json"
HERE = os.path.dirname(os.path.abspath(__file__))


def _paths() -> List[str]:
    """Beside the package, and beside the libraries that it may load; `analysis` is a folder of a build."""
    folders = [HERE]
    if hasattr(sys.modules[__package__], "BUILD"):  # where a build's program started this process (publish.py)
        folders.append(sys.modules[__package__].BUILD)
    folders += [os.path.dirname(path) for _, path in places() if os.sep in path]
    installed = ("share", "szego", "python", "szego")
    found = [os.path.join(folder, *more, NAME) for folder in folders
             for more in ((), ("analysis",), (os.pardir, *installed), (os.pardir, os.pardir, *installed))]
    return list(dict.fromkeys(found))


def _read(path: str) -> Dict[str, dict]:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise LibraryError(f"{path}: {error}: build or install szego again") from None


#: Parts of this package that write tables of their own.
WRITERS = ("judge", "monitor")


@functools.lru_cache(maxsize=None)
def own_tables(writer: str) -> Dict[str, dict]:
    """As `tables`, of those that a part of this package writes, in their order. LibraryError: the package is not whole."""
    return _read(os.path.join(HERE, writer, NAME))


@functools.lru_cache(maxsize=1)
def tables() -> Dict[str, dict]:
    """Every table by its name: "columns", a dict each with name, type, unit, label, doc and, of an enclosure, end
    ("lower" or "upper"), in their order; and, of what the program shows, "screen", the cells. Callers leave them as
    they are. LibraryError: tables.json is nowhere, or no JSON."""
    for path in _paths():
        if os.path.exists(path):
            return {**_read(path), **{name: one for writer in WRITERS for name, one in own_tables(writer).items()}}
    raise LibraryError(f"{NAME}, which describes the tables, is not there; looked for {', '.join(_paths())}. Build "
                       "it (ninja -C build/plain) or install szego again")


def _described(column: str, table: Optional[str]) -> List[dict]:
    """The column in that table, or in every table if that one lacks it or none is named."""
    everywhere = [(name, one) for name, found in tables().items() for one in found["columns"] if one["name"] == column]
    named = (table, table.partition("_")[2]) if table else ()
    return [one for name, one in everywhere if name in named] or [one for _, one in everywhere]


@functools.lru_cache(maxsize=None)
def _common(column: str, table: Optional[str], key: str, otherwise: str) -> str:
    said = {one.get(key, "") for one in _described(column, table)}
    return said.pop() if len(said) == 1 else otherwise


def label(column: str, table: Optional[str] = None) -> str:
    """What a person calls the column: "largest singular value" of "sigma_max". Its name where tables differ about it
    and `table` does not decide, or where none has it. table: "claims", or "verify_claims" as `szego.load` has it."""
    return _common(column, table, "label", column)


def unit(column: str, table: Optional[str] = None) -> str:
    """Its unit: "nats"; "" of texts, of pure numbers, and where nobody knows it."""
    found = _common(column, table, "unit", "")
    return "" if found == "1" else found


def meaning(column: str, table: Optional[str] = None) -> str:
    """What it holds, in a sentence; "" where tables differ about it and `table` does not decide."""
    return _common(column, table, "doc", "")


def end(column: str, table: Optional[str] = None) -> str:
    """"lower" or "upper" if it is an end of an enclosure, and shorter digits of it are rounded down or up; else ""."""
    return _common(column, table, "end", "")
