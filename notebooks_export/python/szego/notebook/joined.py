"""The joined tables as a folder of CSV files that reads back exactly."""
import json
import os

import numpy as np

from ..csvfile import field
from ..errors import ArgumentError
from ..files import locked, replace_result
from ..folders import FORMAT, _TABLE as TABLE_NAME
from ..tables import kind
from .archive import columns_of, sources


def real(value):
    """The shortest text that reads back as the same double, as the program writes it."""
    text = repr(value)
    return text[:-2] if text.endswith(".0") else text


def _cell(cell, empty, of):
    if empty:
        return ""
    if of == "text":
        return field(cell)
    if of == "integer":
        return str(int(cell))
    return real(float(cell))


def lines(table):
    """The table as CSV, a line each."""
    columns = list(table.items())
    yield ",".join(_cell(name, False, "text") for name, _ in columns)
    parts = [(np.ma.getdata(cells), np.ma.getmaskarray(cells), kind(cells)) for _, cells in columns]
    for row in range(len(parts[0][0])):
        yield ",".join(_cell(data[row], empty[row], of) for data, empty, of in parts)


def _check(folder, source, is_export):
    """An export in the folder of the results, or over those of another command, would hide them. Answers the files of
    the export that is there."""
    if source is not None and os.path.isdir(folder) and not is_export and os.path.samefile(folder, source):
        raise ArgumentError(f"{folder} is the folder of the results: choose another, or one below it", "SZG_EINVAL")
    manifest = os.path.join(folder, "manifest.json")
    if not os.path.exists(manifest):
        return []
    try:
        with open(manifest, encoding="utf-8") as file:
            root = json.load(file)
        command, names = root["command"], [str(one["name"]) for one in root["tables"]]
    except (OSError, ValueError, KeyError, TypeError):
        command = None
    if command != "export":
        raise ArgumentError(f"{manifest} is there and not of an export: choose another folder", "SZG_EINVAL")
    return [f"{name}.csv" for name in names if TABLE_NAME.fullmatch(name)]


def write_csv(results, folder, source, version, commit):
    """FOLDER/COMMAND_TABLE.csv, and a manifest last, which is what readers look for; tables of an earlier export go.
    source: the folder that the results are of; None: they are of this process."""
    is_export = any(one.get("command") == "export" for one in results.provenance.values())
    former = _check(folder, source, is_export)
    files = {f"{name}.csv": (line + "\n" for line in lines(table)) for name, table in results.items()}
    tables = [{"name": name, "file": f"{name}.csv", "rows": len(next(iter(table.values()))),
               "columns": columns_of(results, name)} for name, table in results.items()]
    provenance = {"version": version, "commit": commit, "command": "export", **sources(results)}
    manifest = {"format": FORMAT, "command": "export", "provenance": provenance, "tables": tables}
    with locked(folder):
        replace_result(folder, files, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n",
                       [name for name in former if name not in files])
