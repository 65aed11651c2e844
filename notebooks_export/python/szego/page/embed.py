"""The tables in a page: every cell, as compressed bytes (docs/reference/html-report.md, "The embedded format")."""
import base64
import struct
import zlib

import numpy as np

from ..tables import kind

MOST_ORDER = 3
TYPES = {"text": 0, "integer": 1, "real": 2}
ENDS = {"lower": 1, "upper": 2}


def _text(value):
    data = value.encode("utf-8", "surrogatepass")
    return struct.pack("<I", len(data)) + data


def _presence(column):
    """(bytes, mask of empty cells, whether none has a value)."""
    empty = np.ma.getmaskarray(column)
    if empty.all():  # of no rows, too
        return b"\1", empty, True
    if not empty.any():
        return b"\0", empty, False
    return b"\2" + np.packbits(empty, bitorder="little").tobytes(), empty, False


def _numbers(column, empty):
    """(uint64 of each row, the dictionary of texts). An empty cell repeats the one before."""
    data, words = np.ma.getdata(column), b""
    if kind(column) == "integer":
        values = data.astype(np.int64).view(np.uint64).copy()
    elif kind(column) == "real":
        bits = data.astype(np.float64).view(np.uint64)
        values = np.where(bits >> np.uint64(63) != 0, ~bits, bits | np.uint64(1 << 63))
    else:
        cells = data[~empty].tolist()
        places = {cell: place for place, cell in enumerate(dict.fromkeys(cells))}
        values = np.zeros(len(data), np.uint64)
        values[~empty] = np.fromiter(map(places.__getitem__, cells), np.uint64, len(cells))
        words = struct.pack("<I", len(places)) + b"".join(map(_text, places))
    if empty.any():
        before = np.maximum.accumulate(np.where(empty, -1, np.arange(len(values))))
        values = np.where(before < 0, np.uint64(0), values[np.maximum(before, 0)])
    return values, words


def _difference(values):
    return np.concatenate([values[:1], values[1:] - values[:-1]])


def _folded(values):
    """Small numbers of either sign become small: 0, -1, 1, -2, ..."""
    return values << np.uint64(1) ^ np.where(values >> np.uint64(63) != 0, ~np.uint64(0), np.uint64(0))


def _bits(folded):
    """How many bits the numbers need, all together."""
    high, low = (folded >> np.uint64(32)).astype(float), (folded & np.uint64(0xffffffff)).astype(float)
    return int(np.where(high > 0, np.frexp(high)[1] + 32, np.frexp(low)[1]).sum())


def _planes(values):
    best, order, least = _folded(values), 0, None
    least = _bits(best)
    for more in range(1, MOST_ORDER + 1):
        values = _difference(values)
        folded = _folded(values)
        bits = _bits(folded)
        if bits < least:
            best, order, least = folded, more, bits
    size = (int(best.max()).bit_length() + 7) // 8 if len(best) else 0
    planes = best.astype("<u8").view(np.uint8).reshape(-1, 8).T[:size]
    return bytes([order, size]) + np.ascontiguousarray(planes).tobytes()


def table_bytes(table, docs, ends):
    """The zlib stream of a table: a dict of arrays by column; docs: what each column means; ends: which are the
    "lower" or "upper" end of an enclosure."""
    packer = zlib.compressobj(6)
    names = list(table)
    rows = len(table[names[0]]) if names else 0
    parts = [packer.compress(b"SZT2" + struct.pack("<II", rows, len(names)))]
    for name in names:
        facts = bytes([TYPES[kind(table[name])], ENDS.get(ends.get(name), 0)])
        parts.append(packer.compress(facts + _text(name) + _text(docs.get(name, ""))))
    for name in names:
        presence, empty, none = _presence(table[name])
        parts.append(packer.compress(presence))
        if not none:
            values, words = _numbers(table[name], empty)
            parts.append(packer.compress(words + _planes(values)))
    parts.append(packer.flush())
    return b"".join(parts)


def element(data):
    """The bytes as base64."""
    return base64.b64encode(data).decode("ascii")


def runs(index, rows):
    """Row numbers as short text: "0-511,600,700-800:2", ascending, each once; None: every row is meant or there are
    more than 2000 runs."""
    index = np.unique(index)
    if len(index) == rows:
        return None
    parts, at = [], 0
    steps = np.diff(index)
    changes = np.flatnonzero(steps[1:] != steps[:-1]) + 1 if len(steps) > 1 else np.zeros(0, int)
    while at < len(index):
        if at == len(index) - 1:
            parts.append(f"{index[at]}")
            break
        place = np.searchsorted(changes, at, side="right")
        end = int(changes[place]) if place < len(changes) else len(index) - 1
        step = int(steps[at])
        parts.append(f"{index[at]}-{index[end]}" + (f":{step}" if step > 1 else ""))
        at = end + 1
        if len(parts) > 2000:
            return None
    return ",".join(parts)
