"""Folders of results: what `-o DIR/` of every command writes (docs/reference/formats.md)."""
import hashlib
import json
import math
import os
import re
import stat
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Tuple, overload

from .arguments import folder_name, keywords
from .choices import Path
from .csvfile import read_columns
from .errors import DataError
from .tables import TYPES, Column, Exported, Joined, Results, Table, collect

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = "szego-results-1"
_MANIFEST_LIMIT = 256 << 20
_COLUMN_LIMIT = 4096
_TABLE_LIMIT = 1024  # of one result, and of all that are joined
_NAME_LIMIT = 200
_DEPTH_LIMIT = 64  # of folders in each other
_FAMILY = "szego-results-"  # formats of this version and of others
_COMMAND_LIMIT = 64
_TABLE = re.compile(r"[a-z0-9_]+")
_COMMAND = re.compile(r"[a-z0-9-]+")


@overload
def load(folder: Path, frames: Literal[False] = ..., strict: bool = ...) -> Results[Table]: ...
@overload
def load(folder: Path, frames: Literal[True], strict: bool = ...) -> "Results[DataFrame]": ...
@overload
def load(folder: Path, frames: bool, strict: bool = ...) -> Results[Any]: ...


@keywords
def load(folder: Path, frames: bool = False, strict: bool = True) -> Results[Any]:
    """Every result below `folder`, joined: a dict of COMMAND_TABLE.

    Each table is a dict of NumPy arrays by column: integers int64, reals float64, texts object
    arrays of str. A column with empty cells is a masked array, masked where a cell is empty, which is
    not the same as nan. The first column is `result`, the path of the row's result below `folder`
    ("." for the folder itself); a column that results call so themselves is `result_`. Where results
    type a column differently it has the wider type (integer, real, text; text too where an integer
    is no double); columns that a result lacks are empty in its rows.

    frames: pandas DataFrames instead; integers are Int64, empty cells <NA>, NaN and None.
    strict: a damaged result raises DataError, which names file and place, and so do a folder that cannot
    be read and a copy of another result, whose rows would count twice. Otherwise it is left out with a
    warning, and Results.skipped has the message. Manifests of other programs are passed over.

    Of an export (`szego export --to csv`) the tables are as they stand in it; one that lies below
    `folder` is passed over: its rows are there already.
    """
    folder = folder_name(folder)
    if not os.path.isdir(folder):
        raise DataError(f"{folder}: {'is not a' if os.path.lexists(folder) else 'no such'} folder")
    results = Results()
    found: Dict[str, Joined] = {}
    exports: List[str] = []
    known: Dict[bytes, str] = {}
    manifests, faults = _manifests(folder)
    for path in manifests:
        try:
            if path in faults:
                raise DataError(faults[path])
            one = _read_result(folder, path, known)
        except DataError as error:
            if strict:
                raise
            warnings.warn(f"left out: {error}", stacklevel=3)  # of the caller of `checked`
            results.skipped.append(str(error))
            continue
        if one is None:
            continue
        command, provenance, tables = one
        if command == "export" and path != ".":
            exports.append(os.path.join(folder, path, ""))
            continue
        results.provenance[path] = provenance
        if command == "export":
            for name, rows, columns in tables:
                found[name] = Exported()
                found[name].add(path, rows, columns)
            break
        for name, rows, columns in tables:
            _join(found, command, name).add(path, rows, columns)
    if exports and not results.provenance and not results.skipped:
        raise DataError(f"{folder}: holds no results of its own: {exports[0]} is an export; name it itself")
    if not results.provenance and not results.skipped:
        raise DataError(f"{folder}: holds no results: give a folder of results (CSV files and a manifest.json), "
                        "or one above it")
    return collect(found, results, frames)


def load_readable(folder: Path) -> Results[Table]:
    """As load(folder, strict=False), without a warning for each result that is left out: `skipped` has the messages.
    DataError: there is none that can be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = load(folder, strict=False)
    if not results.provenance:
        others = " (and others)" if len(results.skipped) > 1 else ""
        raise DataError(f"{folder}: holds no result that can be read: {results.skipped[0]}{others}: write the results again")
    return results


def _join(found: Dict[str, Joined], command: str, table: str) -> Joined:
    """The joined table that the table of a command goes into."""
    name = f"{command.replace('-', '_')}_{table}"
    if len(name) > _NAME_LIMIT:
        raise DataError(f"table {table} of command {command}: their joined name has more than "
                        f"{_NAME_LIMIT} characters")
    if name not in found and len(found) == _TABLE_LIMIT:
        raise DataError(f"table {table} of command {command}: results with more than {_TABLE_LIMIT} "
                        "kinds of tables cannot be joined")
    return found.setdefault(name, Joined())


def _manifests(folder: str) -> Tuple[List[str], Dict[str, str]]:
    """Paths, relative to the folder, of folders with a manifest, and of those that are too deep to be looked into or
    cannot be; of the latter {path: why}. Links are not followed."""
    found, faults = set(), {}

    def tell(error):
        place = error.filename.removesuffix(os.sep + "manifest.json")
        faults[os.path.relpath(place, folder)] = f"{place}: {error.strerror}: what lies in this folder cannot be read"

    for place, below, files in os.walk(folder, onerror=tell):
        below.sort()
        path, manifest = os.path.relpath(place, folder), os.path.join(place, "manifest.json")
        deep = path.count(os.sep) >= _DEPTH_LIMIT
        if deep:
            below.clear()
        try:
            if deep or "manifest.json" in files and stat.S_ISREG(os.lstat(manifest).st_mode):
                found.add(path)
        except OSError as error:
            tell(error)
    return sorted(found | set(faults), key=lambda path: [] if path == "." else path.split(os.sep)), faults


def _read_file(path: str, limit=None) -> bytes:
    try:
        # A device or a pipe would never end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0))
        with open(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                raise DataError(f"{path}: is no regular file")
            if limit is not None and about.st_size > limit:
                raise DataError(f"{path}: more than {limit} bytes")
            return file.read()  # not read(limit): it would take memory for as much
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None


def is_there(path: str) -> bool:
    """Whether there is something of that name. DataError: nobody can tell, because a folder above it cannot be read
    for instance; os.path.exists would say that there is nothing."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    return True


def _hashed(data: bytes, contents) -> bytes:
    """The data, which `contents`, of hashlib, takes up."""
    contents.update(b"%d\n" % len(data))
    contents.update(data)
    return data


def _unique(pairs: List[Tuple[str, object]]) -> dict:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is there twice")
    return made


def _no_constant(text: str):
    raise ValueError(f"{text} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:40]} is beyond the range of a double")
    return value


def read_json(data: bytes, place: str):
    """JSON without repeated keys, NaN and Infinity, numbers beyond a double's range and halves of surrogate pairs: what
    is read can be written again."""
    try:
        read = json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant,
                          parse_float=_finite)
        if b"\\ud" in data.lower():
            json.dumps(read, ensure_ascii=False).encode("utf-8")
        return read
    except UnicodeEncodeError as error:
        raise DataError(f"{place}: \\u{ord(error.object[error.start]):04x} is half of a surrogate pair") from None
    except RecursionError:
        raise DataError(f"{place}: nested too deeply") from None
    except json.JSONDecodeError as error:
        raise DataError(f"{place}: line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}") from None
    except ValueError as error:
        raise DataError(f"{place}: {error}") from None


def _member(place: str, value, key: str, kind: type):
    if not isinstance(value, dict) or key not in value:
        raise DataError(f"{place}: {key} is missing")
    # A bool is an int in Python, not in JSON.
    if not isinstance(value[key], kind) or isinstance(value[key], bool):
        wanted = {str: "a text", int: "an integer", list: "an array", dict: "an object"}[kind]
        raise DataError(f"{place}: {key} is not {wanted}")
    return value[key]


def _read_result(folder: str, path: str, known: Dict[bytes, str]):
    """(command, provenance, [(table, rows, columns)]), without tables of an export below the folder; None where the
    manifest is another program's. One that names the format but is no JSON was cut off. known: the results that were
    read, by their contents: a copy of one is refused."""
    here = os.path.join(folder, path) if path != "." else folder
    if path.count(os.sep) >= _DEPTH_LIMIT:
        raise DataError(f"{here}: lies more than {_DEPTH_LIMIT} folders below the first: give a folder further down")
    place = os.path.join(here, "manifest.json")
    data = _read_file(place, _MANIFEST_LIMIT)
    root = read_json(data, place) if _FAMILY.encode() in data else None
    written = root.get("format") if isinstance(root, dict) else None
    if not isinstance(written, str) or not written.startswith(_FAMILY):
        return None
    if written != FORMAT:
        raise DataError(f"{place}: format: is {written[:80]}; this version reads {FORMAT}")
    command = _member(place, root, "command", str)
    if not _COMMAND.fullmatch(command):
        raise DataError(f"{place}: command {command[:80]!r}: only a-z, 0-9 and hyphens are allowed")
    if len(command) > _COMMAND_LIMIT:
        raise DataError(f"{place}: command {command[:80]!r}: more than {_COMMAND_LIMIT} characters")
    if command == "export" and path != ".":
        return command, {}, []
    provenance = _member(place, root, "provenance", dict)
    entries = _member(place, root, "tables", list)
    if len(entries) > _TABLE_LIMIT:
        raise DataError(f"{place}: tables: {len(entries)} tables; a result has at most {_TABLE_LIMIT}")
    contents = hashlib.blake2b(data)
    tables = [_read_table(here, f"{place}: tables[{index}]", entry, contents)
              for index, entry in enumerate(entries)]
    names = [name for name, _, _ in tables]
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{place}: table {name} is there twice")
    original = known.setdefault(contents.digest(), here)
    if original != here:
        raise DataError(f"{here}: is a copy of {original}: its rows would count twice: remove one of the two")
    return command, provenance, tables


def _read_table(here: str, place: str, entry, contents):
    name = _member(place, entry, "name", str)
    if not _TABLE.fullmatch(name) or name in ("provenance", "manifest"):
        raise DataError(f"{place}: table name {name[:80]!r}: only a-z, 0-9 and underscores are allowed")
    if len(name) > _NAME_LIMIT:
        raise DataError(f"{place}: table name {name[:80]!r}: more than {_NAME_LIMIT} characters")
    # No name leads out of the folder.
    if _member(place, entry, "file", str) != name + ".csv":
        raise DataError(f"{place}: file is {entry['file'][:80]!r}; it must be {name}.csv, beside the "
                        "manifest")
    rows = _member(place, entry, "rows", int)
    heads = _read_columns(place, _member(place, entry, "columns", list))
    path = os.path.join(here, name + ".csv")
    header, cells = read_columns(_hashed(_read_file(path), contents), path)
    if sorted(map(str, header)) != sorted(column.name for column in heads):
        raise DataError(f"{path}: its columns are not those that manifest.json lists")
    if len(cells[0]) != rows:
        raise DataError(f"{path}: has {len(cells[0])} rows where manifest.json says {rows}: it was cut off "
                        "or changed after it was written")
    by_name = dict(zip(header, cells))
    for column in heads:
        column.cells = by_name[column.name]
        column.check(path)
    return name, rows, heads


def _read_columns(place: str, entries: list) -> List[Column]:
    if not 1 <= len(entries) <= _COLUMN_LIMIT:
        raise DataError(f"{place}: {len(entries)} columns; a table has 1 to {_COLUMN_LIMIT}")
    columns = []
    for index, entry in enumerate(entries):
        at = f"{place}.columns[{index}]"
        kind = _member(at, entry, "type", str)
        if kind not in TYPES:
            raise DataError(f"{at}: type {kind[:40]!r} is none of {', '.join(TYPES)}")
        columns.append(Column(_member(at, entry, "name", str), kind, _member(at, entry, "doc", str), (),
                              entry.get("end") if entry.get("end") in ("lower", "upper") else None))
    if len({column.name for column in columns}) != len(columns):
        raise DataError(f"{place}: a column is there twice")
    return columns
