"""A folder of results: the tables as CSV, and the manifest that names them (docs/reference/formats.md)."""
import json
import os
from typing import Dict, Iterator, List, Tuple

from ..csvfile import field
from ..errors import DataError
from ..files import locked, replace_result
from ..folders import FORMAT, _member as member, _read_file as read_file, is_there, read_json
from .columns import COLUMNS
from .rows import Rows

_PLACE = {name: place for place, name in enumerate(COLUMNS)}
_LIMIT = 256 << 20


def write_folder(folder: str, tables: List[Rows], provenance: dict) -> List[str]:
    """Replaces the judged tables of a folder, and its manifest, in which the program's own tables stay, behind the
    judged ones: they are of the same runs and preset, or DataError. Answers the files of judged tables that it had and
    that are not among these: they are removed."""
    path = os.path.join(folder, "manifest.json")
    with locked(folder):
        there, before = _entries(path)
        kept = [entry for entry in there if entry["name"] not in COLUMNS]
        if kept and before != provenance:
            raise DataError(f"{path}: its tables {', '.join(entry['name'] for entry in kept)} are of other runs or of "
                            "another preset than those judged: choose another folder for the judged tables")
        entries = [*map(_entry, sorted(tables, key=lambda table: _PLACE[table.name])), *kept]
        manifest = {"format": FORMAT, "command": "reproduce", "provenance": provenance, "tables": entries}
        files = {f"{table.name}.csv": _lines(table) for table in tables}
        former = [f"{entry['name']}.csv" for entry in there if entry["name"] in COLUMNS]
        removed = [name for name in former if name not in files]
        replace_result(folder, files, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", removed)
    return removed


def _entries(path: str) -> Tuple[List[dict], dict]:
    """(the tables of the manifest that is there, its provenance), if it is one of `szego reproduce`."""
    if not is_there(path):
        return [], {}
    root = read_json(read_file(path, _LIMIT), path)
    if not isinstance(root, dict) or (root.get("format"), root.get("command")) != (FORMAT, "reproduce"):
        raise DataError(f"{path}: is not of `szego reproduce`: choose another folder for the judged tables")
    entries = member(path, root, "tables", list)
    for index, entry in enumerate(entries):
        member(f"{path}: tables[{index}]", entry, "name", str)
    return entries, member(path, root, "provenance", dict)


def _entry(table: Rows) -> Dict[str, object]:
    columns = [{"name": name, "type": kind, "doc": doc} for name, kind, doc in COLUMNS[table.name]]
    return {"name": table.name, "file": f"{table.name}.csv", "rows": len(table.rows), "columns": columns}


def _lines(table: Rows) -> Iterator[str]:
    columns = table.columns()
    rows = zip(*(column.cells for column in columns)) if table.rows else ()
    return (",".join(map(field, row)) + "\n" for row in [[column.name for column in columns], *rows])
