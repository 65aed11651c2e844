"""The joined tables as a folder of CSV files that reads back exactly."""
import json
import os

import numpy as np

from ..csvfile import field
from ..errors import ArgumentError
from ..files import whole_file
from ..folders import FORMAT
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


def _lines(table):
    columns = list(table.items())
    yield ",".join(_cell(name, False, "text") for name, _ in columns)
    parts = [(np.ma.getdata(cells), np.ma.getmaskarray(cells), kind(cells)) for _, cells in columns]
    for row in range(len(parts[0][0])):
        yield ",".join(_cell(data[row], empty[row], of) for data, empty, of in parts)


def _check(folder, source, is_export):
    """An export in the folder of the results, or over those of another command, would hide them."""
    if os.path.isdir(folder) and not is_export and os.path.samefile(folder, source):
        raise ArgumentError(f"{folder} is the folder of the results: choose another, or one below it", "SZG_EINVAL")
    manifest = os.path.join(folder, "manifest.json")
    if os.path.exists(manifest):
        try:
            with open(manifest, encoding="utf-8") as file:
                command = json.load(file).get("command")
        except (OSError, ValueError, AttributeError):
            command = None
        if command != "export":
            raise ArgumentError(f"{manifest} is there and not of an export: choose another folder", "SZG_EINVAL")


def write_csv(results, folder, source, version, commit):
    """FOLDER/COMMAND_TABLE.csv, and a manifest last, which is what readers look for."""
    is_export = any(one.get("command") == "export" for one in results.provenance.values())
    _check(folder, source, is_export)
    tables = []
    for name, table in results.items():
        with whole_file(os.path.join(folder, f"{name}.csv")) as file:
            file.writelines(line + "\n" for line in _lines(table))
        tables.append({"name": name, "file": f"{name}.csv", "rows": len(next(iter(table.values()))),
                       "columns": columns_of(results, name)})
    provenance = {"version": version, "commit": commit, "command": "export", **sources(results)}
    with whole_file(os.path.join(folder, "manifest.json")) as file:
        json.dump({"format": FORMAT, "command": "export", "provenance": provenance, "tables": tables}, file, indent=2,
                  ensure_ascii=False)
        file.write("\n")
