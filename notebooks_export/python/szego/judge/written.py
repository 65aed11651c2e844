"""A folder of results: the tables as CSV, and the manifest that names them (docs/reference/formats.md)."""
import json
import os
from typing import Dict, List

from ..csvfile import field
from ..errors import DataError
from ..folders import FORMAT, _member as member, _read_file as read_file, read_json
from .columns import COLUMNS
from .rows import Rows

# As `szego reproduce` has them; what stands between those judged is the program's own.
_ORDER = ("table1 sweep switches deposit items settings needs missing runs curves ablation contraction arms hypotheses "
          "pairs length length_arms relations relation_arms relation_runs by_step").split()
_LIMIT = 256 << 20


def write_folder(folder: str, tables: List[Rows], provenance: dict) -> None:
    """Replaces the judged tables of a folder, and its manifest, in which the program's own tables stay.

    Every table is on the disk before the first one is renamed, and the manifest is away while they are: it describes
    the files beside it, whenever this is interrupted."""
    path, partial = os.path.join(folder, "manifest.json"), []
    kept = [entry for entry in _entries(path) if entry["name"] not in COLUMNS]
    entries = sorted([*kept, *map(_entry, tables)], key=lambda entry: _place(entry["name"]))
    manifest = {"format": FORMAT, "command": "reproduce", "provenance": provenance, "tables": entries}
    try:
        os.makedirs(folder, exist_ok=True)
        for table in tables:
            partial.append(_write(os.path.join(folder, f"{table.name}.csv"), _csv(table)))
        partial.append(_write(path, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"))
        if os.path.exists(path):
            os.unlink(path)
        while partial:
            os.replace(partial[0], partial[0][:-len(".part")])
            del partial[0]
    finally:
        for left in partial:
            if os.path.exists(left):
                os.unlink(left)


def _place(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def _entries(path: str) -> List[dict]:
    """The tables of the manifest that is there, if it is one of `szego reproduce`."""
    if not os.path.exists(path):
        return []
    root = read_json(read_file(path, _LIMIT), path)
    if not isinstance(root, dict) or (root.get("format"), root.get("command")) != (FORMAT, "reproduce"):
        raise DataError(f"{path}: is not of `szego reproduce`: choose another folder for the judged tables (-o)")
    entries = member(path, root, "tables", list)
    for index, entry in enumerate(entries):
        member(f"{path}: tables[{index}]", entry, "name", str)
    return entries


def _entry(table: Rows) -> Dict[str, object]:
    columns = [{"name": name, "type": kind, "doc": doc} for name, kind, doc in COLUMNS[table.name]]
    return {"name": table.name, "file": f"{table.name}.csv", "rows": len(table.rows), "columns": columns}


def _csv(table: Rows) -> str:
    columns = table.columns()
    rows = zip(*(column.cells for column in columns)) if table.rows else ()
    return "".join(",".join(map(field, row)) + "\n" for row in [[column.name for column in columns], *rows])


def _write(path: str, text: str) -> str:
    partial = path + ".part"
    with open(partial, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return partial
