"""Figures of tables with Matplotlib: what `szego.plot` draws, and the cells of exported notebooks.

A function takes tables by name, each a dict of arrays by column or a structured array of an export, and axes to
draw into (None: a new figure). It returns the list of its axes. The build copies each section below into a cell
of a notebook (tools/embed), which has NumPy and Matplotlib alone: a section uses those and `base`.
"""
# ---- base ----
import matplotlib.colors
import matplotlib.pyplot as plt
import matplotlib.ticker
import numpy as np

SOME = 8  # plots, lines or panels that one figure has at most
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7F3C8D", "#000000"]
DASHES = ["-", "--", "-.", ":"]
GREY = "0.45"
# What axes call a column, as in szego's HTML report.
LABELS = {
    "accuracy": "accuracy", "ceiling": "label ceiling", "density": "density of eigenvalues",
    "drop": "loss of accuracy", "effective_rank": "effective rank",
    "encoding": "encoding", "energy": "energy", "epoch": "epoch", "head": "head", "kernel": "mean kernel",
    "lag": "lag (positions)", "lambda": "eigenvalue", "layer": "layer",
    "loss": "cross-entropy (nats)", "majorised": "share of heads and probes majorised",
    "margin": "slack of the majorisation", "n": "order n", "norm_ratio": "ratio of the largest singular values",
    "nuclear_ratio": "ratio of the sums of singular values", "rotated_heads": "heads that RoPE turns",
    "sigma_max": "largest singular value", "stable_rank": "stable rank", "step": "training step",
    "theta": "angle (radians a position)", "toeplitzness": "toeplitzness",
    "toeplitzness_content": "toeplitzness of the content",
    "toeplitzness_coupled": "toeplitzness with the encoding", "width_ratio": "ratio of widths"}


class FigureError(ValueError):
    """Axes or words that a figure cannot take."""


def table(tables, *names):
    """The first of these tables that has rows, else a table without rows or columns."""
    for name in names:
        if name in tables and size(tables[name]):
            return tables[name]
    return {}


def columns(rows):
    """Names of the columns."""
    return rows.dtype.names if isinstance(rows, np.ndarray) else rows.keys()


def size(rows):
    """How many rows there are."""
    return len(rows) if isinstance(rows, np.ndarray) else max(map(len, rows.values()), default=0)


def pick(rows, index):
    """The rows that an index or a mask chooses."""
    return rows[index] if isinstance(rows, np.ndarray) else {name: cells[index] for name, cells in rows.items()}


def numbers(rows, column):
    """A column as real numbers; NaN where it is missing, empty or nothing that Matplotlib can draw."""
    if column in columns(rows) and rows[column].dtype.kind in "fi":
        values = np.ma.filled(rows[column].astype(float), np.nan)
        return np.where(np.abs(values) < 1e100, values, np.nan)
    return np.full(size(rows), np.nan)


def texts(rows, column):
    """A column as a list of str; "" where it is missing or empty."""
    if column not in columns(rows):
        return [""] * size(rows)
    cells = np.ma.getdata(rows[column])
    if cells.dtype.kind in "fi":
        return ["" if np.isnan(x) else f"{x:.0f}" if x == np.rint(x) else f"{x:.12g}" for x in numbers(rows, column)]
    return [cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell) for cell in cells]


def where(rows, column, *values):
    """The rows whose text is one of these; every row where the column is missing."""
    return pick(rows, np.isin(texts(rows, column), values)) if column in columns(rows) else rows


def known(rows, column):
    """The rows that have a number there."""
    return pick(rows, np.isfinite(numbers(rows, column)))


def split(rows, *names):
    """[(values, rows), ...]: the rows by what stands in these columns, in the order of the file."""
    groups = {}
    for i, key in enumerate(zip(*(texts(rows, name) for name in names))):
        groups.setdefault(key, []).append(i)
    return [(key, pick(rows, np.array(index))) for key, index in groups.items()]


tell = print


def some(items, what, most=SOME):
    """The first of many, and a word about the rest."""
    if len(items) > most:
        tell(f"{len(items) - most} more {what} are there and not drawn.")
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


def wide(values):
    """Whether values span so much that only a logarithmic scale shows them apart."""
    found = np.abs(values[np.isfinite(values) & (values != 0)])
    return len(found) > 0 and found.max() > 100 * np.median(found)


def bent(axis, values, which="y"):
    """A logarithmic scale, on both sides of zero where there are two, if the values span much."""
    if not wide(values):
        return
    scale = axis.set_yscale if which == "y" else axis.set_xscale
    if (values[np.isfinite(values)] > 0).all():
        scale("log")
    else:
        found = np.abs(values[np.isfinite(values) & (values != 0)])
        scale("symlog", linthresh=10.0 ** np.floor(np.log10(np.median(found))))


def style(i):
    """Colour and dash of the i-th line, apart for every kind of colour vision."""
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i // 2 % len(DASHES)]}


def panels(count, ax=None, width=5.2, height=3.4):
    """So many axes: those of the caller, or of a new figure."""
    if ax is not None:
        given = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) != count:
            raise FigureError(f"the figure has {count} panels and ax= {len(given)}: choose rows with "
                              "COLUMN=VALUE, or leave ax out")
        return given
    if count == 0:
        return []
    across = min(count, 2)
    down = -(-count // across)
    _, axes = plt.subplots(down, across, squeeze=False, constrained_layout=True,
                           figsize=(width * across, height * down))
    for axis in axes.flat[count:]:
        axis.remove()
    return list(axes.flat[:count])


def describe(axis, title, x, y):
    """Title and labels of a panel."""
    axis.set(xlabel=x, ylabel=y)
    axis.set_title(title, fontsize="medium")


def counted(axis):
    """Ticks of x at whole numbers: steps, epochs, heads."""
    axis.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))


def places(axis, names, **options):
    """A place of x for each name."""
    axis.set_xticks(range(len(names)), names, **options)
    axis.set_xlim(-0.5, max(len(names), 1) - 0.5)


def legend(axis):
    """A legend beside the axes where something has a name."""
    if axis.get_legend_handles_labels()[1]:
        axis.legend(fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1, 1), borderaxespad=0.3)


def means(rows, x, y):
    """For every x with a value: (x, the mean of y, the least, the greatest)."""
    at, values = numbers(rows, x), numbers(rows, y)
    keep = np.isfinite(at) & np.isfinite(values)
    at, place = np.unique(at[keep], return_inverse=True)
    least, most = np.full(len(at), np.inf), np.full(len(at), -np.inf)
    np.minimum.at(least, place, values[keep])
    np.maximum.at(most, place, values[keep])
    mean = np.bincount(place, values[keep], len(at)) / np.maximum(np.bincount(place, minlength=len(at)), 1)
    return at, mean, least, most


def mean_line(axis, of, i, **options):
    """A line through the means, and an area from the least to the greatest where they differ."""
    at, mean, least, most = of
    axis.plot(at, mean, **{**style(i), **options})
    if (least < most).any():
        axis.fill_between(at, least, most, color=style(i)["color"], alpha=0.15, linewidth=0)


def rule(axis, at, text):
    """A line across the panel, with a name."""
    if np.isfinite(at):
        axis.axhline(at, color=GREY, linewidth=0.9, linestyle="--", label=text)


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


def bounds(rows, prefix, singular):
    """(lo, hi) that the symbol certifies for eigenvalues, or singular values; NaN where it bounds none."""
    lo, hi = numbers(rows, prefix + "min_lo")[0], numbers(rows, prefix + "max_hi")[0]
    of = texts(rows, "bound_of")[0]
    if not lo <= hi or of not in ("eigenvalues", "singular_values"):
        return np.nan, np.nan
    radius = max(abs(lo), abs(hi))
    if singular:
        return 0.0, radius
    return (lo, hi) if of == "eigenvalues" else (-radius, radius)


# ---- spectrum ----
def values_of(part):
    """The values of one matrix, each as often as it stands, and how many of its order are missing."""
    values, times = numbers(part, "re") + 1j * np.nan_to_num(numbers(part, "im")), numbers(part, "multiplicity")
    order, zeros = numbers(part, "n")[0], numbers(part, "zeros")[0]
    if (times >= 1).all() and times.sum() <= 1e7:
        values = np.repeat(values, times.astype(int))
    elif (times >= 1).all() and times.sum() == order and len(values) <= 1e4:
        # All are listed: a million in the same shares, to a hundredth, stand for them.
        return np.repeat(values, np.maximum(times * (1e6 / order), 1).astype(int)), 0
    elif 0 < zeros <= 1e7 and zeros == order - len(values):  # older results list none of the zeros
        values = np.append(values, np.zeros(int(zeros)))
    return values, order - len(values) if np.isfinite(order) else 0


def draw_plane(axis, values, radius):
    """Complex values, within the certified circle."""
    axis.plot(values.real, values.imag, ".", color=COLOURS[0], markersize=4, label="eigenvalues")
    if np.isfinite(radius):
        turn = np.linspace(0, 2 * np.pi, 361)
        axis.plot(radius * np.cos(turn), radius * np.sin(turn), color=GREY, linewidth=0.9,
                  label="certified maximum of |a|")
    axis.set_aspect("equal", adjustable="datalim")


def draw_values(axis, values, curve, ends, form, singular):
    """Sorted values over the share below them, their distribution or their density, beside the symbol's."""
    names = ("singular values", "quantiles of |a|") if singular else ("eigenvalues", "quantiles of the symbol")
    for end, text in zip(ends, ("certified range", None)):
        if np.isfinite(end):
            (axis.axhline if form == "quantiles" else axis.axvline)(end, color=GREY, linewidth=0.9, label=text)
    if np.isfinite(ends).all():
        (axis.axhspan if form == "quantiles" else axis.axvspan)(*ends, color=GREY, alpha=0.12, linewidth=0)
    if form == "density":
        edges = np.histogram_bin_edges(values, "auto" if len(values) < 10**5 else 400)
        axis.hist(values, edges, density=True, color=COLOURS[0], alpha=0.6, label=names[0])
        if len(curve):
            axis.hist(curve, edges, density=True, histtype="step", color=COLOURS[1], label=names[1])
        return
    if form == "steps":
        for of, text, i in ((values, names[0], 0), (curve, names[1], 1)):
            if len(of):
                axis.step(of, np.arange(1, len(of) + 1) / len(of), where="post", color=COLOURS[i], label=text,
                          linewidth=1 if i else 3)
        return
    if len(curve):
        axis.plot((np.arange(len(curve)) + 0.5) / len(curve), curve, color=COLOURS[1], linewidth=1, label=names[1],
                  zorder=3)
    at = np.unique(np.linspace(0, len(values) - 1, min(len(values), 4000)).astype(int))
    axis.plot((at + 0.5) / len(values), values[at], ".", color=COLOURS[0], markersize=4, label=names[0])
    bent(axis, np.append(values, curve))


def spectrum(tables, ax=None, form="quantiles"):
    """Sorted values of each matrix beside the quantiles of its symbol and its certified range."""
    key = "result", "source", "layer", "head", "matrix", "n"
    if form not in ("quantiles", "steps", "density"):
        raise FigureError(f"form={form!r}: quantiles, steps, density are possible")
    rows = known(table(tables, "spectrum_eigenvalues"), "re")
    if "eigenvalue" in texts(rows, "kind"):
        rows = where(rows, "kind", "eigenvalue")
    symbols = {of: part for of, part in split(table(tables, "spectrum_samples"), *key)}
    certified = {of: part for of, part in split(table(tables, "spectrum_range"), *key)}
    turn, matrices = {}, []
    for of, part in split(rows, *key):  # the first head of every source before the second of any
        turn[of[:2]] = turn.get(of[:2], 0) + 1
        matrices.append((turn[of[:2]], of, part))
    matrices = some([item[1:] for item in sorted(matrices, key=lambda item: item[0])], "spectra", 12)
    axes = panels(len(matrices), ax)
    for axis, (of, part) in zip(axes, matrices):
        singular = texts(part, "kind")[0] == "singular"
        (values, missing), curve = values_of(part), np.zeros(0)
        title = show(of[1], word("head", of[3]), of[4], word("n =", of[5]))
        label = "singular value" if singular else "eigenvalue"
        ends = bounds(certified[of], "", singular) if of in certified else (np.nan, np.nan)
        if values.imag.any():
            draw_plane(axis, values, ends[1])
            describe(axis, title, "real part", "imaginary part")
        elif missing:
            axis.text(0.5, 0.5, "a part of the values:\nno quantiles", ha="center", transform=axis.transAxes)
            describe(axis, title, "", label)
        else:
            if of in symbols:
                samples = numbers(symbols[of], "re") + 1j * np.nan_to_num(numbers(symbols[of], "im"))
                samples = samples[np.isfinite(samples)]
                if singular or not samples.imag.any():
                    curve = np.sort(np.abs(samples) if singular else samples.real)
            draw_values(axis, np.sort(values.real), curve, ends, form, singular)
            share = {"quantiles": ("share of the values below", label), "density": (label, "density"),
                     "steps": (label, "share of the values below")}[form]
            describe(axis, title, *share)
        legend(axis)
    return axes


# ---- contraction ----
CONTRACTIONS = ("train_contraction", "capture_contraction", "logits_contraction", "reproduce_contraction",
                "spectrum_contraction")


def contraction(tables, ax=None, column="width_ratio"):
    """A column of the contraction, by default the ratio of widths, over training steps (heads, orders where
    there is one step): a panel a layer, a line a head, means over probes with the area that they cover."""
    rows = known(table(tables, *CONTRACTIONS), column)
    runs = some(split(rows, "result", "run", "source", "layer"), "layers")
    axes = panels(len(runs), ax)
    for axis, (of, part) in zip(axes, runs):
        x = next((x for x in ("step", "head", "n") if len(set(texts(part, x)) - {""}) > 1), "step")
        lines = split(part, "head") if x == "step" else [(("",), part)]
        for i, ((head,), line) in enumerate(some(lines, "heads", 16)):
            mean_line(axis, means(line, x, column), i, marker=".", label=show(word("head", head)) if head else None)
        if column.endswith("_ratio"):
            rule(axis, 1, "1: as the content")
        if x == "n":
            axis.set_xscale("log")
        else:
            counted(axis)
        describe(axis, show(of[1] or of[0], of[2], word("layer", of[3])), LABELS[x], LABELS.get(column, column))
        bent(axis, numbers(part, column))
        legend(axis)
    return axes


# ---- claims ----
def claims(tables, ax=None):
    """The verdict on each claim, a row a claim, and how many have each verdict."""
    rows = pick(table(tables, "verify_claims"), slice(100))
    verdicts, names = texts(rows, "verdict"), texts(rows, "id")
    (axis,) = panels(1, ax, 5.2, 1.2 + 0.19 * len(names))
    kinds = sorted(set(verdicts), key=lambda kind: (-verdicts.count(kind), kind))[:SOME]
    for k, kind in enumerate(kinds):
        at = [i for i, verdict in enumerate(verdicts) if verdict == kind]
        axis.plot([k] * len(at), at, "o", color=COLOURS[k])
    places(axis, [f"{show(kind, most=16)}\n{verdicts.count(kind)}" for kind in kinds])
    axis.set_yticks(range(len(names)), [show(text, most=24) for text in names], fontsize="small")
    axis.set_ylim(max(len(names), 1) - 0.5, -0.5)
    axis.grid(axis="y", linewidth=0.4, alpha=0.6)
    describe(axis, f"{len(names)} claims", "verdict", "claim")
    return [axis]


# ---- counterexamples ----
def counterexamples(tables, ax=None):
    """f and g of each counterexample to Lemma B.1; g is f with every phase 0. Dotted lines stand at the ends of
    f's range among these samples."""
    found = []
    for (_, claim, _), part in split(table(tables, "verify_samples"), "result", "id", "certificate"):
        again = np.flatnonzero(np.diff(numbers(part, "theta")) < 0) + 1  # older results do not number them
        for one in np.split(np.arange(size(part)), again):
            found.append(((claim, texts(part, "note")[one[0]]), pick(part, one)))
    found = some(found, "counterexamples", 24)
    axes = panels(len(found), ax)
    for axis, (of, part) in zip(axes, found):
        for i, column in enumerate(("f", "g")):
            axis.plot(numbers(part, "theta"), numbers(part, column), **style(2 * i), label=column)
        f = numbers(part, "f")
        if np.isfinite(f).any():
            for end in (np.nanmin(f), np.nanmax(f)):
                axis.axhline(end, color=COLOURS[0], linestyle=":", linewidth=1)
        describe(axis, show(*of), "t in radians", "f(t), g(t)")
        legend(axis)
    return axes
