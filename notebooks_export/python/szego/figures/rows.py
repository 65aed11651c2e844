"""Rows of tables: which of them go together, and their cells as numbers and texts.

A table is a dict of arrays by column (of `szego.load`) or a structured array (of an npz file). An empty cell is
masked, NaN in a column of numbers, or "" in a column of texts.
"""
import numpy as np


def _factorize(cells):
    """An integer for each text, by first appearance."""
    places = {cell: place for place, cell in enumerate(dict.fromkeys(cells))}
    return np.fromiter(map(places.__getitem__, cells), np.int64, len(cells))


def _read_text(cell):
    return (cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)) or None


class Source:
    """A table with its name; what was read from its columns is kept."""

    def __init__(self, name, columns):
        self.name, self.columns = name, columns
        self.names = list(columns.dtype.names if isinstance(columns, np.ndarray) else columns)
        self.size = len(columns[self.names[0]]) if self.names else 0
        self._numbers, self._texts, self._codes = {}, {}, {}

    def is_text(self, column):
        return column in self.names and np.ma.getdata(self.columns[column]).dtype.kind not in "fciub"

    def is_whole(self, column):
        return column in self.names and np.ma.getdata(self.columns[column]).dtype.kind in "iu"

    def numbers(self, column):
        """float64 [size]; NaN where the cell is empty, and throughout where there is no such column of numbers."""
        if column not in self._numbers:
            if column in self.names and not self.is_text(column):
                cells = self.columns[column]
                values = np.array(np.ma.getdata(cells), float)
                values[np.ma.getmaskarray(cells)] = np.nan
            else:
                values = np.full(self.size, np.nan)
            self._numbers[column] = values
        return self._numbers[column]

    def is_infinite(self, column):
        """bool [size]: a number is written that is not finite. NaN is one where empty cells are masked, and is an
        empty cell in a structured array."""
        values = self.numbers(column)
        if column not in self.names or self.is_text(column):
            return np.zeros(self.size, bool)
        if isinstance(self.columns, np.ndarray):
            return np.isinf(values)
        return ~np.isfinite(values) & ~np.ma.getmaskarray(self.columns[column])

    def texts(self, column):
        """Array of objects [size]: str, or None where the cell is empty or there is no such column of texts."""
        if column not in self._texts:
            values = np.full(self.size, None, object)
            if self.is_text(column):
                cells = self.columns[column]
                data = np.ma.getdata(cells).tolist()
                read = {cell: _read_text(cell) for cell in set(data)}
                values[:] = [read[cell] for cell in data]
                values[np.ma.getmaskarray(cells)] = None
            self._texts[column] = values
        return self._texts[column]

    def codes(self, column):
        """Equal integers, 0 or more, for equal cells; empty equals empty, NaN equals NaN."""
        if column not in self._codes:
            if self.is_text(column):
                self._codes[column] = _factorize(self.texts(column))
            elif self.is_whole(column):  # seeds of 64 bits that differ may be one float64
                cells = self.columns[column]
                _, codes = np.unique(np.ma.getdata(cells), return_inverse=True)
                self._codes[column] = np.where(np.ma.getmaskarray(cells), 0, codes + 1)
            else:
                _, codes = np.unique(self.numbers(column) + 0.0, return_inverse=True)
                self._codes[column] = codes
        return self._codes[column]


class Rows:
    """Some rows of a table, in the order of `index`."""

    def __init__(self, source, index=None):
        self.source = source
        self.index = np.arange(source.size) if index is None else np.asarray(index)

    def __len__(self):
        return len(self.index)

    @property
    def table(self):
        """The table's name."""
        return self.source.name

    def has(self, column):
        return column in self.source.names

    def is_text(self, column):
        return self.source.is_text(column)

    def numbers(self, column):
        """float64 [rows]; NaN where there is no number."""
        return self.source.numbers(column)[self.index]

    def is_infinite(self, column):
        """bool [rows]: a number is written that is not finite."""
        return self.source.is_infinite(column)[self.index]

    def texts(self, column):
        """Objects [rows]: str, None where there is no text."""
        return self.source.texts(column)[self.index]

    def number(self, column, i=0):
        """The number in row i; NaN where there is none."""
        return float(self.source.numbers(column)[self.index[i]]) if len(self.index) else np.nan

    def text(self, column, i=0):
        """The text in row i; None where there is none."""
        return self.source.texts(column)[self.index[i]] if len(self.index) else None

    def cell(self, column, i=0):
        """The text, or the number, in row i; None where the cell is empty."""
        if self.is_text(column):
            return self.text(column, i)
        value = self.number(column, i)
        return None if np.isnan(value) else value

    def key(self, column, i=0):
        """What tells the cell in row i from others: as `cell`, but exact where the column is of whole numbers."""
        if not len(self.index) or not self.has(column):
            return None
        if self.source.is_whole(column):
            cells, at = self.source.columns[column], self.index[i]
            return None if np.ma.getmaskarray(cells)[at] else int(np.ma.getdata(cells)[at])
        return self.cell(column, i)

    def pick(self, chosen):
        """The rows of a mask or of positions in this list."""
        return Rows(self.source, self.index[chosen])

    def where(self, column, *values):
        """The rows whose text in `column` is one of these; None: it is empty."""
        texts = self.texts(column)
        return self.pick(np.array([text in values for text in texts], bool))

    def every(self):
        """Every row of the table."""
        return Rows(self.source)

    def known(self, column):
        """The rows with a finite number there."""
        return self.pick(np.isfinite(self.numbers(column)))

    def filled(self, column):
        """The rows whose cell there is not empty; NaN that was written counts as empty too."""
        filled = self.texts(column).astype(bool) if self.is_text(column) else ~np.isnan(self.numbers(column))
        return self.pick(filled)

    def split(self, *columns):
        """The rows grouped by the cells of these columns, in the order of the groups' first rows. A column that the
        table lacks splits nothing."""
        codes = [self.source.codes(column)[self.index] for column in columns if self.has(column)]
        return self._grouped(codes)

    def split_by(self, keys):
        """The rows grouped by a key for each; those with the key None are in no group."""
        kept = np.array([key is not None for key in keys], bool)
        rows = self.pick(kept)
        return rows._grouped([_factorize([key for key in keys if key is not None])])

    def _grouped(self, codes):
        if not len(self):
            return []
        if not codes:
            return [self]
        key = codes[0]
        for more in codes[1:]:  # one number a pair, made small again so that it cannot overflow
            _, key = np.unique(key * (more.max() + 1) + more, return_inverse=True)
        _, first, key = np.unique(np.ravel(key), return_index=True, return_inverse=True)
        order = np.argsort(np.ravel(key), kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(np.ravel(key)))[:-1])
        return [Rows(self.source, self.index[groups[g]]) for g in np.argsort(first)]

    def distinct(self, column):
        """Finite numbers of the column, ascending, each once."""
        values = self.numbers(column)
        return np.unique(values[np.isfinite(values)] + 0.0)

    def has_several(self, column):
        """Whether the column has two finite numbers that differ."""
        return len(self.distinct(column)) > 1


class Tables(dict):
    """Every table by its name, as a Source; results of `szego.load`, of `numpy.load`, or a dict of tables."""

    def __init__(self, tables):
        super().__init__({name: Source(name, tables[name]) for name in tables})

    def rows(self, name):
        """Every row of a table; none of a table that is not there."""
        return Rows(self[name]) if name in self else Rows(Source(name, {}))


def match(rows, like, *columns):
    """The first of these groups whose cells in `columns` are those of the first row of `like`; None: there is none.
    A column that one of the two lacks decides nothing."""
    for group in rows:
        if all(same(group, 0, like, 0, column) for column in columns
               if group.has(column) and like.has(column)):
            return group
    return None


def same(a, i, b, j, column):
    """Whether row i of `a` and row j of `b` have the same text or number there; empty is the same as empty."""
    return a.key(column, i) == b.key(column, j)


def is_below(path, folder):
    """Whether the path is the folder or lies in it; "." has every path."""
    return folder == "." or path == folder or path.startswith(folder + "/")


def is_within(path, folders):
    """Whether a result, the cell of a column `result`, lies in one of the folders."""
    return path is not None and any(is_below(path, folder) for folder in folders)
