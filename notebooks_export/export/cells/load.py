# needs one of: every notebook has it
"""
## Loading

The cells below depend on this one alone: run it, then any of them. `archive` holds the arrays,
`manifest` what they mean.
"""
import json

import matplotlib.pyplot as plt
import numpy as np

FILE = "export.npz"  # beside this notebook
archive = np.load(FILE)
manifest = json.loads(archive["manifest"].item())
np.set_printoptions(floatmode="unique")  # the end of an enclosure that is rounded may lie inside it
SOME = 8  # plots, lines or panels that one cell draws at most
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7F3C8D", "#000000"]
DASHES = ["-", "--", "-.", ":"]


def table(*names):
    """The first of these tables that has rows, else an array without rows or columns."""
    for name in names:
        if name in archive.files and len(archive[name]):
            return archive[name]
    return np.zeros(0, dtype=[("result", "S1")])


def numbers(rows, column):
    """A column as real numbers; NaN where it is missing or nothing that Matplotlib can draw."""
    if column in rows.dtype.names and rows.dtype[column].kind in "fi":
        values = rows[column].astype(float)
        return np.where(np.abs(values) < 1e100, values, np.nan)
    return np.full(len(rows), np.nan)


def texts(rows, column):
    """A column as a list of str; "" where it is missing."""
    if column not in rows.dtype.names:
        return [""] * len(rows)
    if rows.dtype[column].kind != "S":
        return ["" if np.isnan(x) else f"{x:g}" for x in rows[column].astype(float)]
    return [text.decode("utf-8", "replace") for text in rows[column]]


def where(rows, column, *values):
    """The rows whose text is one of these; every row where the column is missing."""
    if column not in rows.dtype.names:
        return rows
    return rows[np.isin(texts(rows, column), values)]


def split(rows, *columns):
    """[(values, rows), ...]: the rows by what stands in these columns, in the order of the file."""
    groups = {}
    for i, key in enumerate(zip(*(texts(rows, column) for column in columns))):
        groups.setdefault(key, []).append(i)
    return [(key, rows[index]) for key, index in groups.items()]


def some(items, what, most=SOME):
    """The first of many, and a word about the rest."""
    if len(items) > most:
        print(f"{len(items) - most} more {what} are in the arrays and not drawn.")
    return items[:most]


def show(*parts, most=60):
    """Names for a label: nothing in them is mathematics, a line break or too long."""
    text = ", ".join(dict.fromkeys(part for part in parts if part))
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    text = text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return text.replace("$", r"\$") or "all"


def word(name, value):
    """"head 3" of a number; nothing of an empty cell."""
    return f"{name} {value}" if value else ""


def bent(axis, values):
    """A logarithmic scale, on both sides of zero where there are two, if the values span much."""
    size = np.abs(values[np.isfinite(values) & (values != 0)])
    if not len(size) or size.max() <= 100 * np.median(size):
        return
    if (values > 0).all():
        axis.set_yscale("log")
    else:
        axis.set_yscale("symlog", linthresh=10.0 ** np.floor(np.log10(np.median(size))))


def style(i):
    """Colour and dash of the i-th line, apart for every kind of colour vision."""
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i // 2 % len(DASHES)]}


def panels(count, width=6.0, height=3.6, **options):
    """A figure with so many axes side by side."""
    columns = max(1, min(count, 2))
    lines = -(-count // columns)
    figure, axes = plt.subplots(max(lines, 1), columns, squeeze=False, constrained_layout=True,
                                figsize=(width * columns, height * max(lines, 1)), **options)
    for axis in axes.flat[count:]:
        axis.remove()
    return figure, list(axes.flat[:count])


def legend(axis):
    """A legend where something has a name."""
    if axis.get_legend_handles_labels()[1]:
        axis.legend(fontsize="small", framealpha=0.6)


def grid(rows, row, column, value):
    """The mean of a value for every pair of whole numbers: (rows, columns, matrix)."""
    x, y, z = numbers(rows, column), numbers(rows, row), numbers(rows, value)
    keep = np.isfinite(x) & np.isfinite(y)
    xs, i = np.unique(x[keep], return_inverse=True)
    ys, j = np.unique(y[keep], return_inverse=True)
    if len(xs) * len(ys) > 10**6:
        xs, ys, i, j = xs[:0], ys[:0], i[:0], j[:0]
    total, count = np.zeros((len(ys), len(xs))), np.zeros((len(ys), len(xs)))
    good = np.isfinite(z[keep]) if len(i) else np.zeros(0, bool)
    np.add.at(total, (j[good], i[good]), z[keep][good] if len(i) else [])
    np.add.at(count, (j[good], i[good]), 1)
    with np.errstate(invalid="ignore"):
        return ys, xs, total / np.where(count > 0, count, np.nan)


def heat(axis, matrix, rows, columns, **options):
    """A heat map with the values' names as ticks; cells without a value stay grey."""
    axis.set_facecolor("0.85")
    image = axis.imshow(np.ma.masked_invalid(matrix), aspect="auto", interpolation="nearest",
                        **options)
    for set_ticks, names in ((axis.set_yticks, rows), (axis.set_xticks, columns)):
        at = np.unique(np.linspace(0, len(names) - 1, min(len(names), 12)).astype(int))
        set_ticks(at, [f"{names[i]:g}" for i in at])
    axis.figure.colorbar(image, ax=axis)


sorted(archive.files)
