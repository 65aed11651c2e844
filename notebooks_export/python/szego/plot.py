"""The figures of szego's HTML report with Matplotlib.

    szego.plot.spectrum(szego.spectrum("kms:rho=0.5", 256), symbol=szego.symbol("kms:rho=0.5", 256))
    szego.plot.contraction(szego.load("out/"), layer=0)

A function takes what `load` or `run` returned, or results of calls in this process where it says so, one or a
list of them. `ax`: axes to draw into, as many as there are panels; None: new figures, as many as the page has.
COLUMN=VALUE (or a list of values) chooses rows: source="alibi:heads=8", head=0, layer=[0, 1]. The answer is the Axes of
one panel, or an array of the Axes of all figures. Nothing is shown or saved: `matplotlib.pyplot.show()` and `savefig`
do that.

SzegoError: Matplotlib is missing, or there is nothing to draw; ArgumentError: words, rows or axes that do not fit.
Where a figure leaves lines or panels out, a warning says how many.
"""
import warnings
from dataclasses import replace
from typing import Dict, Iterable, List, Optional, Sequence

import numpy as np

from .arguments import unknown_keyword
from .errors import ArgumentError, MissingPackageError, SzegoError
from .figures import ablation as ablation_records, compose, contraction as contraction_records, curves as curve_records
from .figures import drawing as blocks, lemma as lemma_records, ranges as range_records, record, symbol as symbol_records
from .figures import rows as rows_of, table1 as table1_records
from .figures import density as density_records, extremes as extremes_records, kernel as kernel_records
from .figures import rotary as rotary_records, sweep as sweep_records, toeplitzness as checkpoint_records
from .results import Contraction, Range, Spectrum, Symbol

try:
    from matplotlib.axes import Axes
    from . import cells as figures
    from .figures import draw as drawing
except ImportError as _error:
    raise MissingPackageError(f"szego.plot needs Matplotlib (pip install matplotlib): {_error}") from _error

__all__ = ["ablation", "claims", "contraction", "contraction_map", "counterexamples", "curves", "density", "extremes",
           "heads", "kernel", "lemma", "ranges", "rotary", "spectrum", "sweep", "symbol", "table1", "toeplitzness"]

# The caller's line: above it are a function of this module, _draw, the figure, figures.some and this.
figures.tell = lambda text: warnings.warn(text, stacklevel=6)


def spectrum(results, ax=None, *, form: str = "quantiles", symbol: Optional[Symbol] = None, **where):
    """Values of each matrix beside the quantiles of its symbol, and the certified range.

    results: a Spectrum, a list of them, or tables with `spectrum_eigenvalues` (`szego spectrum --all -o DIR/`).
    form: "quantiles" (sorted values over the share below), "steps" (the distribution), "density" (a histogram).
    symbol: of a Spectrum, the Symbol to set beside it. Complex eigenvalues are drawn in the plane.
    """
    if symbol is not None and not isinstance(results, Spectrum):
        raise ArgumentError("symbol= goes with one Spectrum; tables hold their samples", "SZG_EINVAL")
    if symbol is not None and not isinstance(symbol, Symbol):
        raise ArgumentError(f"symbol={symbol!r}: a Symbol is needed (szego.symbol)", "SZG_EINVAL")
    return _draw(figures.spectrum, _tables(results, Spectrum, _of_spectrum, symbol), ax, where,
                 ("spectrum_eigenvalues",), ("spectrum_samples", "spectrum_range"), form=form)


def symbol(results, ax=None, **where):
    """The symbol over the angle, with its certified range; of a complex one modulus and both parts.

    results: a Symbol, a list of them, or tables of `symbol`.
    """
    return _show("symbol", (symbol_records.CURVES,), _tables(results, Symbol, _of_symbol), ax, where, None,
                 symbol_records.SECTION, ("symbol_range",))


def density(results, ax=None, **where):
    """Density of the eigenvalues of long kernels, with its standard error and its resolution. Tables of
    `spectrum --density`."""
    return _show("density", (density_records.DENSITY,), results, ax, where)


def extremes(results, ax=None, **where):
    """Eigenvalues at the ends of long kernels' spectra, their errors and gaps, a figure an end and matrix each. Tables
    of `spectrum --k K`."""
    return _show("extremes", extremes_records.SECTION.figures, results, ax, where)


def ranges(results, ax=None, **where):
    """The range of each encoding's values over its heads, beside the certified range of the symbol.

    results: a Spectrum, a list of them, or tables with `spectrum_summary`.
    """
    return _show("ranges", (range_records.RANGES_OF_ALL,), _tables(results, Spectrum, _of_range), ax, where, None,
                 range_records.SECTION)


def contraction(results, ax=None, *, column: str = "width_ratio", **where):
    """A column of the contraction over training steps (heads or orders where there is one step): a panel a layer,
    a line a head, the mean over probes and the area from the least to the greatest.

    results: tables of `train --capture`, `capture`, `logits`, `reproduce` or `spectrum --part ratio`; or a
    Contraction, whose eigenvalues are drawn with the encoding and without.
    column: width_ratio, norm_ratio, nuclear_ratio, margin, majorised, toeplitzness_content, toeplitzness_coupled.
    """
    if isinstance(results, Contraction):
        return _two_spectra(results, ax, column, where)
    return _draw(figures.contraction, results, ax, where, figures.CONTRACTIONS, column=column)


def contraction_map(results, ax=None, *, over: str = "head", **where):
    """The ratio of widths of every head, layer by head at the last step, a figure a run. Blue: the encoding narrows
    the spectrum. `contraction` draws the steps."""
    if over != "head":
        raise ArgumentError(f"contraction_map: over={over!r}: the map is of layer by head (over='head'); "
                            "contraction() draws the ratios over steps", "SZG_EINVAL")
    return _show("contraction_map", (contraction_records.MAP,), results, ax, where)


def curves(results, ax=None, *, column: str = "accuracy", **where):
    """Accuracy (or column="loss") by epoch, a colour an encoding: thick the test split, thin training; of several
    seeds the mean, and the area from the least to the greatest. Tables of `train` or `reproduce`."""
    records = {one.y.column: one for one in curve_records.SECTION.figures}
    return _show("curves", (_of_column(records, column),), results, ax, where, column, curve_records.SECTION,
                 ("reproduce_runs", "train_runs"))


def table1(results, ax=None, **where):
    """Test accuracy of each encoding with one standard deviation over seeds, the paper's, the label ceiling, and
    what the length alone tells. A figure an experiment and task. Tables of `reproduce`."""
    return _show("table1", table1_records.FIGURES, results, ax, where)


def ablation(results, ax=None, *, column: str = "accuracy", **where):
    """Test accuracy without each head, layer by layer; the rule is that with every head. A figure a task, a panel an
    encoding. Tables of `ablate` or `reproduce`."""
    records = {"accuracy": ablation_records.ACCURACY}
    return _show("ablation", (_of_column(records, column),), results, ax, where, column)


def sweep(results, ax=None, **where):
    """Test accuracy against the number of heads that RoPE turns; error bars: one standard deviation over seeds."""
    return _show("sweep", (sweep_records.SWEEP,), results, ax, where)


def claims(results, ax=None, **where):
    """The verdict on each claim. Tables of `verify`."""
    return _draw(figures.claims, results, ax, where, ("verify_claims",))


def lemma(results, ax=None, **where):
    """Lemma B.1 over trials, in two figures: max|f| against max|g|, and the widths. Points are the middles of the
    certified enclosures. Tables of `verify`."""
    return _show("lemma", (), results, ax, where, None, _LEMMA)


def counterexamples(results, ax=None, **where):
    """f and g of each counterexample to Lemma B.1. Tables of `verify`."""
    return _draw(figures.counterexamples, results, ax, where, ("verify_samples",))


def toeplitzness(results, ax=None, *, column: str = "toeplitzness", **where):
    """Toeplitzness of each head (or sigma_max, effective_rank, stable_rank), layer by head. Tables of
    `checkpoint`."""
    maps = {one.value: one for one in checkpoint_records.SECTION.figures if one.marks == record.CELLS}
    return _show("toeplitzness", (_of_column(maps, column),), results, ax, where, column)


def heads(results, ax=None, **where):
    """Singular values of each head of a checkpoint, the largest first: a figure a matrix, a panel a layer; of tensors
    without layers one figure. Tables of `checkpoint`."""
    return _show("heads", (checkpoint_records.SPECTRA, checkpoint_records.TENSOR_SPECTRA), results, ax, where)


def kernel(results, ax=None, **where):
    """Mean kernel of each head over the lag: a panel a layer, a line a head. Tables of `checkpoint`."""
    return _show("kernel", (kernel_records.LINES,), results, ax, where)


def rotary(results, ax=None, **where):
    """Rotary energy of a checkpoint: layer by pair, the mean over heads; and by frequency, a panel a layer, a line a
    head. Tables of `checkpoint`."""
    return _show("rotary", rotary_records.SECTION.figures, results, ax, where)


def _compose_lemma(section, tables):
    for trials in tables.rows("verify_lemma").split("result")[:section.most // 2]:
        yield from lemma_records.blocks(trials, None, 2)[0]


_LEMMA = record.Section("lemma", "Lemma B.1", ("verify_lemma",), compose=_compose_lemma)


# ---- Tables, chosen and checked -----------------------------------------------------------------


def _columns(table) -> dict:
    """A dict of arrays; of a DataFrame as load() would have it."""
    if not hasattr(table, "iloc"):
        return table
    made = {}
    for name in table.columns:
        empty = table[name].isna().to_numpy(bool)
        if table[name].dtype.kind in "iu":
            made[name] = np.ma.MaskedArray(table[name].fillna(0).to_numpy(np.int64), empty)
        elif table[name].dtype.kind == "f":
            made[name] = table[name].to_numpy(float)
        else:
            made[name] = np.ma.MaskedArray(table[name].where(~empty, "").to_numpy(object), empty)
    return made


def _chosen(tables: dict, where: dict, own: Iterable[str]) -> dict:
    """The rows that COLUMN=VALUE chooses, of every table that has the column; `own`: keywords of the figure."""
    for name, wanted in where.items():
        having = [of for of, rows in tables.items() if name in rows]
        if not having:
            there = sorted({column for rows in tables.values() for column in rows})
            raise unknown_keyword(", ".join(tables), name, [*own, *there])
        words = [str(one) for one in (wanted if isinstance(wanted, (list, tuple, range, np.ndarray)) else [wanted])]
        tables = {of: figures.where(rows, name, *words) if of in having else rows for of, rows in tables.items()}
    return tables


def _check_axes(ax) -> None:
    """Refuses what is no Axes of Matplotlib, nor an array of them."""
    for one in [] if ax is None else np.ravel(np.asarray(ax, dtype=object)):
        if not isinstance(one, Axes):
            raise ArgumentError(f"ax={type(one).__name__}: Axes of Matplotlib are needed, as plt.subplots makes them",
                                "SZG_EINVAL")


def _taken(name: str, results, needs: Sequence[str], beside: Sequence[str] = ()) -> dict:
    """The tables that a figure needs, and those beside them, as arrays."""
    if isinstance(results, (Spectrum, Symbol, Contraction)) or not hasattr(results, "keys"):
        raise ArgumentError(f"{name}: {type(results).__name__} cannot be drawn; tables with "
                            f"{' or '.join(needs)} can", "SZG_EINVAL")
    tables = {of: _columns(results[of]) for of in (*needs, *beside) if of in results}
    if not any(figures.size(tables[of]) for of in needs if of in tables):
        raise SzegoError(f"{name}: nothing to draw: no rows of {' or '.join(needs)}")
    return tables


def _nothing(name: str, needs: Sequence[str], where: dict) -> SzegoError:
    said = f" with {', '.join(f'{column}={value!r}' for column, value in where.items())}" if where else ""
    return SzegoError(f"{name}: nothing to draw: {' or '.join(needs)} has no numbers{said}")


def _of_column(records: dict, column: str):
    """The record that shows this column."""
    if column not in records:
        raise ArgumentError(f"column={column!r}: no figure shows it; there are {', '.join(records)}", "SZG_EINVAL")
    return records[column]


def _show(name: str, records: Sequence[record.Figure], results, ax, where: dict, column: Optional[str] = None,
          section: Optional[record.Section] = None, beside: Sequence[str] = ()):
    """Axes of the figures that the page has of these records: each is a figure of its own, or all share `ax`.

    section: one that composes its records, or its tables where there are none, in its own way, with those `beside`."""
    _check_axes(ax)
    needs = list(dict.fromkeys(of for one in records for of in one.tables)) or section.tables
    tables = _taken(name, results, needs, beside)
    if column:
        _column(tables, needs, column)
    chosen = rows_of.Tables(_chosen(tables, where, ["column"] if column else []))
    with np.errstate(all="ignore"):  # a quotient beyond doubles is no number, as on the page
        found = list(section.compose(replace(section, figures=records), chosen)) if section else compose.compose(
            records, chosen, record.FIGURES)
    drawings = [one for one in found if isinstance(one, blocks.Drawing)]
    if not drawings:
        raise _nothing(name, needs, where)
    left_out = [f"{one.title}: not drawn: {', '.join(one.left_out)}" for one in drawings if one.left_out]
    for text in [one.text for one in found if isinstance(one, blocks.Paragraph)] + left_out:
        warnings.warn(f"{name}: {text}", stacklevel=3)  # the caller's line
    axes = _drawn(name, drawings, ax)
    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object)


def _drawn(name: str, drawings: Sequence[blocks.Drawing], ax) -> list:
    """The Axes of all drawings, in order."""
    if ax is None:
        return [axis for one in drawings for axis in drawing.draw(one).axes]
    given = list(np.ravel(np.asarray(ax, dtype=object)))
    panels = sum(len(one.panels) for one in drawings)
    if len(given) != panels:
        raise ArgumentError(f"{name}: {panels} panels are drawn, and ax= {len(given)} axes", "SZG_EINVAL")
    axes = iter(given)
    for one in drawings:
        drawing.draw(one, [next(axes) for _ in one.panels])
    return given


def _draw(figure, results, ax, where: dict, needs: Sequence[str], beside: Sequence[str] = (), **options):
    """The figure's Axes, or an array of them."""
    _check_axes(ax)
    tables = _taken(figure.__name__, results, needs, beside)
    options.update({"column": _column(tables, needs, options["column"])} if "column" in options else {})
    try:
        axes = figure(_chosen(tables, where, options), ax, **options)
    except figures.FigureError as error:
        raise ArgumentError(f"{figure.__name__}: {error}", "SZG_EINVAL") from None
    if not axes:
        raise _nothing(figure.__name__, needs, where)
    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object)


def _column(tables: dict, needs: Sequence[str], column: str) -> str:
    """A column of numbers, which one of the tables has."""
    having = {name for of in needs if of in tables for name in tables[of] if tables[of][name].dtype.kind in "fi"}
    if column not in having:
        raise ArgumentError(f"column={column!r}: no column of numbers; there are {', '.join(sorted(having))}",
                            "SZG_EINVAL")
    return column


# ---- Results of this process as tables ----------------------------------------------------------


def _tables(results, kind, table_of, *more):
    """Tables as they are; tables of one or more results of this process."""
    if isinstance(results, kind):
        results = [results]
    if not isinstance(results, (list, tuple)):
        return results
    others = [type(one).__name__ for one in results if not isinstance(one, kind)]
    if others or not results:
        raise ArgumentError(f"a list of {kind.__name__} is needed, not of {', '.join(others) or 'nothing'}",
                            "SZG_EINVAL")
    return _joined([table_of(one, str(index), *more) for index, one in enumerate(results)])


def _joined(parts: List[Dict[str, dict]]) -> Dict[str, dict]:
    tables: Dict[str, dict] = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        having = [part[name] for part in parts if name in part]
        tables[name] = {column: np.concatenate([rows[column] for rows in having]) for column in having[0]}
    return tables


def _rows(count: int, **columns) -> dict:
    """Columns of one length; a single value stands in every row."""
    made = {}
    for name, value in columns.items():
        array = np.asarray(value)
        made[name] = array if array.ndim else np.full(count, value, object if isinstance(value, str) else array.dtype)
    return made


def _end_columns(found: Optional[Range], prefix: str = "") -> dict:
    if found is None:
        return {**{prefix + name: np.nan for name in ("min_lo", "min_hi", "max_lo", "max_hi")}, "bound_of": ""}
    return {**{prefix + name: getattr(found, name) for name in ("min_lo", "min_hi", "max_lo", "max_hi")},
            "bound_of": found.bounds.replace(" ", "_")}


def _key(one, index: str) -> dict:
    return {"result": index, "source": one.source, "n": one.n}


def _of_spectrum(one: Spectrum, index: str, symbol: Optional[Symbol] = None) -> Dict[str, dict]:
    values = one.values
    tables = {"spectrum_eigenvalues": _rows(
        len(values), **_key(one, index), kind=one.kind, re=values.real, im=values.imag,
        multiplicity=one.multiplicity)}
    if one.range is not None:
        tables["spectrum_range"] = _rows(1, **_key(one, index), **_end_columns(one.range))
    if symbol is not None:
        tables["spectrum_samples"] = _rows(len(symbol.values), **_key(one, index), re=symbol.values.real,
                                           im=symbol.values.imag)
    return tables


def _of_symbol(one: Symbol, index: str) -> Dict[str, dict]:
    key = {**_key(one, index), "convention": one.convention}
    tables = {"symbol_samples": _rows(len(one.values), **key, theta=one.theta, re=one.values.real,
                                      im=one.values.imag)}
    if one.range is not None:
        tables["symbol_range"] = _rows(1, **key, **_end_columns(one.range), theta_min=one.range.theta_min,
                                       theta_max=one.range.theta_max)
    return tables


def _of_range(one: Spectrum, index: str) -> Dict[str, dict]:
    values = one.values[np.isfinite(one.values)]
    ends = (values.real.min(), values.real.max()) if len(values) and not values.imag.any() else (np.nan, np.nan)
    of = "sigma" if one.kind == "singular" else "lambda"
    return {"spectrum_summary": _rows(1, **_key(one, index), **{
        **{f"{name}_{end}": np.nan for name in ("sigma", "lambda") for end in ("min", "max")},
        f"{of}_min": ends[0], f"{of}_max": ends[1]}, **_end_columns(one.range, "symbol_"))}


def _two_spectra(found: Contraction, ax, column: str, where: dict):
    """Eigenvalues of the logits with the encoding and without, over the share below."""
    if column != "width_ratio" or where:
        raise ArgumentError("contraction: a Contraction has no columns or rows to choose", "SZG_EINVAL")
    _check_axes(ax)
    try:
        (axis,) = figures.panels(1, ax)
    except figures.FigureError as error:
        raise ArgumentError(f"contraction: {error}", "SZG_EINVAL") from None
    for i, (one, text) in enumerate(((found.content, "content alone"), (found.coupled, "with the encoding"))):
        values = np.sort(np.real(one.eigenvalues.expanded()))
        axis.plot((np.arange(len(values)) + 0.5) / len(values), values, marker=".", **figures.style(i), label=text,
                  markersize=4)
    figures.describe(axis, figures.show(found.source, f"{figures.LABELS['width_ratio']} {found.width:.4g}"),
                     "share of the values below", "eigenvalue")
    figures.legend(axis)
    return axis
