#!/usr/bin/python3
"""The tables in a page: bytes that a decoder written from docs/reference/html-report.md reads back, to the bit."""
import os
import random
import struct
import sys
import zlib

from peer import PACKAGE, Tap

sys.path.insert(0, PACKAGE)
import numpy as np  # pylint: disable=wrong-import-position
from szego.page import embed  # pylint: disable=wrong-import-position

SEED = int(os.environ.get("SZG_TEST_SEED", "0"))
tap = Tap()


class Decoder:
    """The format, byte by byte."""

    def __init__(self, data):
        self.data, self.at = zlib.decompress(data), 0

    def take(self, size):
        self.at += size
        assert self.at <= len(self.data)
        return self.data[self.at - size:self.at]

    def number(self):
        return struct.unpack("<I", self.take(4))[0]

    def text(self):
        return self.take(self.number()).decode("utf-8", "surrogatepass")

    def table(self):
        assert self.take(4) == b"SZT2"
        rows, columns = self.number(), self.number()
        heads = [(*self.take(2), self.text(), self.text()) for _ in range(columns)]
        cells = {name: self.column(kind, rows) for kind, _, name, _ in heads}
        assert self.at == len(self.data)
        return heads, cells

    def column(self, kind, rows):
        presence = self.take(1)[0]
        if presence == 1:
            return [None] * rows
        empty = [False] * rows
        if presence == 2:
            bits = self.take((rows + 7) // 8)
            empty = [bool(bits[row // 8] >> row % 8 & 1) for row in range(rows)]
        words = [self.text() for _ in range(self.number())] if kind == 0 else None
        order, width = self.take(2)
        planes = [self.take(rows) for _ in range(width)]
        values = [sum(plane[row] << 8 * i for i, plane in enumerate(planes)) for row in range(rows)]
        values = [value >> 1 if value % 2 == 0 else -(value + 1 >> 1) for value in values]
        for _ in range(order):
            for row in range(1, rows):
                values[row] += values[row - 1]
        values = [value % 2**64 for value in values]
        return [None if gone else self.cell(kind, value, words) for value, gone in zip(values, empty)]

    @staticmethod
    def cell(kind, value, words):
        if kind == 0:
            return words[value]
        if kind == 1:
            return value - 2**64 if value >> 63 else value
        return struct.unpack("<d", struct.pack("<Q", value & ~(1 << 63) if value >> 63 else value ^ 2**64 - 1))[0]


def random_column(chance, rows):
    kind = chance.choice(["real", "integer", "text"])
    corner = {"real": lambda: chance.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, -1.7e308, chance.gauss(0, 1)]),
              "integer": lambda: chance.choice([0, -1, 2**63 - 1, -2**63, chance.randrange(-9, 9)]),
              "text": lambda: chance.choice(["", "a", "<b>", "é\u202e", "x" * 300, "\n\""])}[kind]
    smooth = chance.random() < 0.3
    cells = [np.sin(i / 9) if smooth and kind == "real" else 7 * i if smooth and kind == "integer" else corner()
             for i in range(rows)]
    values = np.array(cells, {"real": float, "integer": np.int64, "text": object}[kind])
    share = chance.choice([0, 0, 0.3, 1])
    mask = np.array([chance.random() < share for _ in range(rows)], bool)
    return np.ma.MaskedArray(values, mask=mask) if mask.any() else values


def same(cell, got):
    if cell is None or got is None:
        return cell is got
    if isinstance(cell, float):
        return cell != cell and got != got or struct.pack("<d", cell) == struct.pack("<d", got)
    return cell == got


def tables_read_back():
    chance, wrong, least = random.Random(SEED), [], 0
    for trial in range(300):
        rows = chance.choice([0, 1, 2, 7, 8, 9, 64, 200])
        table = {f"c{i}": random_column(chance, rows) for i in range(chance.randrange(1, 6))}
        ends = {"c0": chance.choice(["lower", "upper"])} if chance.random() < 0.5 else {}
        heads, cells = Decoder(embed.table_bytes(table, {"c0": "what it means"}, ends)).table()
        if heads[0][1] != {"lower": 1, "upper": 2}.get(ends.get("c0"), 0) or heads[0][3] != "what it means":
            wrong.append((trial, "head", heads[0]))
        for name, column in table.items():
            mine = [None if gone else value for value, gone in zip(np.ma.getdata(column).tolist(),
                                                                  np.ma.getmaskarray(column))]
            wrong += [(trial, name, a, b) for a, b in zip(mine, cells[name]) if not same(a, b)]
            least += len(mine)
    tap.ok(f"{least} cells of 300 tables, seed {SEED}", least > 5000 and not wrong, str(wrong[:3]))


def smooth_columns_are_small():
    values = np.sort(np.cos(np.pi * (np.arange(20000) + 0.5) / 20000))
    size = len(embed.table_bytes({"re": values}, {}, {}))
    tap.ok("20000 samples of a smooth function take less than three bytes each", size < 3 * 20000, str(size))


def rows_of_links():
    chance, wrong = random.Random(SEED), []
    for _ in range(2000):
        rows = chance.randrange(1, 60)
        index = sorted(chance.sample(range(rows), chance.randrange(1, rows + 1)))
        text = embed.runs(np.array(index), rows)
        found = []
        for part in text.split(",") if text else []:
            ends, _, step = part.partition(":")
            first, _, last = ends.partition("-")
            found += range(int(first), int(last or first) + 1, int(step or 1))
        if (text is None) != (len(index) == rows) or (text is not None and found != index):
            wrong.append((index, text))
    tap.ok("rows of links are the rows", not wrong, str(wrong[:2]))
    tap.ok("more than 2000 runs are all rows", embed.runs(np.flatnonzero(np.random.default_rng(0).random(40000) < 0.5),
                                                          40000) is None)


tables_read_back()
smooth_columns_are_small()
rows_of_links()
tap.finish()
