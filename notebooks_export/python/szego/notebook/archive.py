"""Tables as NumPy arrays in one zip (docs/reference/exports.md), and what an export says about itself."""
import io
import json
import zipfile

import numpy as np

from ..errors import DataError
from ..files import whole_file
from ..tables import kind

FORMAT = "szego-export-1"
#: An array pads every text to the longest of its column: so many bytes of nothing are refused.
PADDING_LIMIT = 1 << 30


def dtype(column):
    """What the column is in an archive: "<f8", "<i8" or "|S" as wide as its longest text."""
    if kind(column) == "text":
        return f"|S{max((len(_bytes(cell)) for cell in np.ma.getdata(column)), default=1) or 1}"
    return "<i8" if kind(column) == "integer" and not np.ma.getmaskarray(column).any() else "<f8"


def _bytes(text):
    return text.encode("utf-8", "surrogateescape")


def columns_of(results, name, **facts):
    """A manifest's list of a table's columns; facts: further ones, functions of the cells by their key."""
    ends, docs = results.ends.get(name, {}), results.docs.get(name, {})
    return [{"name": column, "type": kind(cells), **{key: fact(cells) for key, fact in facts.items()},
             **({"end": ends[column]} if column in ends else {}), "doc": docs.get(column, "")}
            for column, cells in results[name].items()]


def described(results, version, commit):
    """The manifest: provenance of every result, and types and meanings of every column."""
    tables = [{"name": name, "rows": len(next(iter(table.values()))), "columns": columns_of(results, name, dtype=dtype)}
              for name, table in results.items()]
    return {"format": FORMAT, "version": version, "commit": commit, **sources(results), "tables": tables}


def sources(results):
    """What was read, and what could not be."""
    return {"results": [{"path": path, "command": provenance.get("command", ""), "provenance": provenance}
                        for path, provenance in results.provenance.items()],
            "unread": list(results.skipped)}


def _texts(place, column):
    cells = [b"" if empty else _bytes(cell) for cell, empty in zip(np.ma.getdata(column), np.ma.getmaskarray(column))]
    longest = max(map(len, cells), default=0)
    if longest * len(cells) - sum(map(len, cells)) > PADDING_LIMIT:
        raise DataError(f"{place}: an array pads all {len(cells)} texts to the longest, of {longest} bytes, which is "
                        "more than a GiB of nothing: write csv")
    return np.array(cells, f"S{longest or 1}")


def _numbers(place, column):
    data, empty = np.ma.getdata(column), np.ma.getmaskarray(column)
    if kind(column) == "real":
        return np.where(empty, np.nan, data) if empty.any() else np.asarray(data, "<f8")
    if not empty.any():
        return np.asarray(data, "<i8")
    for row in np.flatnonzero(~empty):
        if int(float(data[row])) != int(data[row]):
            raise DataError(f"{place}, row {row + 1}: {data[row]} is no double, and an integer column with empty cells "
                            "is one of doubles: write csv")
    return np.where(empty, np.nan, data.astype("<f8"))


def structured(name, table):
    """One structured array with one field per column."""
    columns = {column: (_texts if kind(cells) == "text" else _numbers)(f"table {name}, column {column}", cells)
               for column, cells in table.items()}
    made = np.zeros(len(next(iter(columns.values()))), [(column, cells.dtype) for column, cells in columns.items()])
    for column, cells in columns.items():
        made[column] = cells
    return made


def write_npz(results, path, version, commit):
    """FILE.npz; numpy.load reads it without pickles. Its bytes depend only on the results."""
    manifest = np.array(json.dumps(described(results, version, commit), ensure_ascii=False))
    with whole_file(path, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for name, array in [("manifest", manifest), *results.items()]:
            info = zipfile.ZipInfo(f"{name}.npy")  # no time of day: the same results give the same bytes
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as member:
                held = io.BytesIO()
                np.lib.format.write_array(held, array if name == "manifest" else structured(name, array),
                                          allow_pickle=False)
                member.write(held.getbuffer())
