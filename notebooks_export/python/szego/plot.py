"""The figures of szego's HTML report with Matplotlib, by the same records (szego/figures).

    szego.plot.spectrum(szego.spectrum("kms:rho=0.5", 256), symbol=szego.symbol("kms:rho=0.5", 256))
    szego.plot.contraction(szego.load("out/"), layer=0)

A function takes what `load` or `run` returned, or results of calls in this process where it says so, one or a
list of them. `ax`: axes to draw into, as many as there are panels; None: new figures, as many as the page has.
COLUMN=VALUE (or a list of values) chooses rows: source="alibi:heads=8", head=0, layer=[0, 1]. The answer is the Axes of
one panel, or an array of the Axes of all figures; no type tells which, so that its annotation is Any. Nothing is shown
or saved: `matplotlib.pyplot.show()` and `savefig` do that.

SzegoError: Matplotlib is missing, or there is nothing to draw; ArgumentError: words, rows or axes that do not fit.
Where a figure leaves lines or panels out, a warning says how many.
"""
import inspect
import re
import textwrap
import warnings
from dataclasses import replace
from typing import Any, Dict, List, Literal, Optional, Sequence

import numpy as np

from . import program_tables
from .arguments import unknown_keyword
from .choices import ContractionColumn, CurveColumn, HeadColumn, KernelFigure, KernelKind, MonitorColumn
from .errors import ArgumentError, MissingPackageError, SzegoError
from .figures import ablation as ablation_records, certificates as certificate_records, claims as claim_records
from .figures import compose, contraction as contraction_records, curves as curve_records, density as density_records
from .figures import drawing as blocks, extremes as extremes_records, kernel as kernel_records, lagshare as lag_records
from .figures import lemma as lemma_records, monitor as monitor_records
from .figures import positional as positional_records, ranges as range_records, record, rotary as rotary_records, rows as rows_of
from .figures import spectrum as spectrum_records, sweep as sweep_records, symbol as symbol_records
from .figures import table1 as table1_records, toeplitzness as checkpoint_records, words
from .monitor import Monitor
from .results import Contraction, Spectrum, Symbol

try:
    from matplotlib.axes import Axes
    from .figures import draw as drawing
except ImportError as _error:
    raise MissingPackageError(f"szego.plot needs Matplotlib (pip install matplotlib): {_error}") from _error

__all__ = ["ablation", "claims", "contraction", "contraction_map", "counterexamples", "curves", "density", "extremes",
           "heads", "kernel", "kernel_map", "layers", "lemma", "monitor", "ranges", "rotary", "shares", "spectrum", "sweep",
           "symbol", "table1", "toeplitzness"]


def spectrum(results: Any, ax: Any = None, *, symbol: Optional[Symbol] = None, **where: Any) -> Any:
    """Sorted values beside the quantiles of the symbol and the certified range; by rank where many are 0 or computed as
    0, and in the plane where they are complex. One figure per source and matrix, one panel per layer.

    results: a Spectrum, a list of them, or tables with `spectrum_eigenvalues` (`szego spectrum --all -o DIR/`).
    symbol: of a Spectrum, the Symbol to set beside it.
    """
    if symbol is not None and not isinstance(results, Spectrum):
        raise ArgumentError("symbol= goes with one Spectrum; tables hold their samples", "SZG_EINVAL")
    if symbol is not None and not isinstance(symbol, Symbol):
        raise ArgumentError(f"symbol={symbol!r}: a Symbol is needed (szego.symbol)", "SZG_EINVAL")
    section = spectrum_records.SECTION
    return _show("spectrum", section.figures, _tables(results, Spectrum, program_tables.of_spectrum, symbol), ax, where,
                 section=section, beside=("spectrum_samples", "spectrum_range", "spectrum_summary"))


def symbol(results: Any, ax: Any = None, **where: Any) -> Any:
    """The symbol over the angle, with its certified range; of a complex one modulus and both parts.

    results: a Symbol, a list of them, or tables of `symbol`.
    """
    return _show("symbol", (symbol_records.CURVES,), _tables(results, Symbol, program_tables.of_symbol), ax, where,
                 section=symbol_records.SECTION, beside=("symbol_range",))


def density(results: Any, ax: Any = None, **where: Any) -> Any:
    """Density of the eigenvalues of long kernels, with its standard error and its resolution. Tables of
    `spectrum --density`."""
    return _show("density", (density_records.DENSITY,), results, ax, where)


def extremes(results: Any, ax: Any = None, **where: Any) -> Any:
    """Eigenvalues at the ends of long kernels' spectra, their errors and gaps, one figure per end and matrix. Tables
    of `spectrum --k K`."""
    return _show("extremes", extremes_records.SECTION.figures, results, ax, where)


def ranges(results: Any, ax: Any = None, **where: Any) -> Any:
    """The range of each encoding's values over its heads, beside the certified range of the symbol.

    results: a Spectrum, a list of them, or tables with `spectrum_summary`.
    """
    return _show("ranges", (range_records.RANGES_OF_ALL,), _tables(results, Spectrum, program_tables.of_spectrum), ax, where,
                 section=range_records.SECTION)


def contraction(results: Any, ax: Any = None, *, column: ContractionColumn = "width_ratio", **where: Any) -> Any:
    """The ratio of widths over training steps, one panel per layer, one line per head: the mean over probes. For a run
    with one step the map of its heads; without heads the three ratios over orders. One figure per run.

    results: tables of `train --capture`, `capture`, `logits`, `reproduce` or `spectrum --part ratio`; or a
    Contraction, whose eigenvalues are drawn with the encoding and without.
    column: width_ratio; norm_ratio or nuclear_ratio (means over the heads, beside that of the widths); majorised;
    margin; toeplitzness_content or toeplitzness_coupled (both, means over the heads).
    """
    if not isinstance(results, Contraction):
        return _show("contraction", _of_column(_CONTRACTIONS, column), results, ax, where, column, _CONTRACTION,
                     ("logits_bands",))
    if column != "width_ratio" or where:
        raise ArgumentError("contraction: a Contraction has no columns or rows to choose", "SZG_EINVAL")
    part = " of the Hermitian part" if results.content.hermitian_part or results.coupled.hermitian_part else ""
    figure = replace(_TWO_SPECTRA, title=f"eigenvalues{part}, ratio of widths {words.number(results.width)}")
    return _show("contraction", (figure,), program_tables.of_contraction(results), ax, where)


def contraction_map(results: Any, ax: Any = None, *, over: Literal["head"] = "head", **where: Any) -> Any:
    """The ratio of widths of every head, layer by head at the last step, one figure per run. Blue: the encoding narrows
    the spectrum. Grey: the ratio is within what relabelled tokens give, where the tables have `logits_bands`
    (`szego logits --band DRAWS`). `contraction` draws the steps."""
    if over != "head":
        raise ArgumentError(f"contraction_map: over={over!r}: the map is of layer by head (over='head'); "
                            "contraction() draws the ratios over steps", "SZG_EINVAL")
    return _show("contraction_map", (contraction_records.MAP,), results, ax, where, section=_CONTRACTION,
                 beside=("logits_bands",))


def monitor(results: Any, ax: Any = None, *, column: MonitorColumn = "headroom", **where: Any) -> Any:
    """Attention while a model trains: the largest proved bound and the largest logit of all heads by step, beside the
    threshold. The other columns have a panel for each layer and a line for each head.

    results: a Monitor, or tables of the folder that it writes.
    column: headroom; map (layer by head, the proved headroom at the last step); bound, largest_logit, entropy_min,
    entropy_mean, first_share, sink_share, learned_share, q_norm_max, k_norm_max, lag_share or stable_rank.
    """
    tables = {monitor_records.TABLE: results.table} if isinstance(results, Monitor) else results
    return _show("monitor", _of_column(monitor_records.RECORDS, column), tables, ax, where)


def curves(results: Any, ax: Any = None, *, column: CurveColumn = "accuracy", **where: Any) -> Any:
    """Accuracy (or column="loss") by epoch, one colour per encoding: thick the test split, thin training; of several
    seeds the mean, and the area from the least to the greatest. Tables of `train` or `reproduce`."""
    records = {one.y.column: one for one in curve_records.SECTION.figures}
    return _show("curves", (_of_column(records, column),), results, ax, where, column, curve_records.SECTION,
                 ("reproduce_runs", "train_runs"))


def table1(results: Any, ax: Any = None, **where: Any) -> Any:
    """Test accuracy of each encoding with one standard deviation over seeds, the paper's, the label ceiling, and
    what the length alone tells. One figure per experiment and task. Tables of `reproduce`."""
    return _show("table1", table1_records.FIGURES, results, ax, where)


def ablation(results: Any, ax: Any = None, *, column: Literal["accuracy"] = "accuracy", **where: Any) -> Any:
    """Test accuracy without each head, layer by layer; the rule is that with every head. One figure per task, one
    panel per encoding. Tables of `ablate` or `reproduce`."""
    records = {"accuracy": ablation_records.ACCURACY}
    return _show("ablation", (_of_column(records, column),), results, ax, where, column)


def sweep(results: Any, ax: Any = None, **where: Any) -> Any:
    """Test accuracy against the number of heads that RoPE turns; error bars: one standard deviation over seeds."""
    return _show("sweep", (sweep_records.SWEEP,), results, ax, where)


def claims(results: Any, ax: Any = None, **where: Any) -> Any:
    """The verdict on each claim: one row per claim, one column per verdict, and counts. Tables of `verify`."""
    return _show("claims", (_VERDICTS,), results, ax, where)


def lemma(results: Any, ax: Any = None, **where: Any) -> Any:
    """Lemma B.1 over trials, in two figures: max|f| against max|g|, and the widths. Points are the middles of the
    certified enclosures. Tables of `verify`."""
    return _show("lemma", (), results, ax, where, section=_LEMMA)


def counterexamples(results: Any, ax: Any = None, **where: Any) -> Any:
    """f and g of each counterexample to Lemma B.1: a figure for each claim, a panel for each certificate. Tables of
    `verify`."""
    return _show("counterexamples", (), results, ax, where, section=_CURVES, beside=("verify_certificates",))


def toeplitzness(results: Any, ax: Any = None, *, column: HeadColumn = "toeplitzness", **where: Any) -> Any:
    """Toeplitzness of each head (or sigma_max, effective_rank, stable_rank), layer by head. Tables of
    `checkpoint`."""
    maps = {one.value: one for one in checkpoint_records.SECTION.figures if one.marks == record.CELLS}
    return _show("toeplitzness", (_of_column(maps, column),), results, ax, where, column)


def heads(results: Any, ax: Any = None, **where: Any) -> Any:
    """Singular values of each head of a checkpoint, the largest first: one figure per matrix, one panel per layer; of
    tensors without layers one figure. Tables of `checkpoint`."""
    return _show("heads", (checkpoint_records.SPECTRA, checkpoint_records.TENSOR_SPECTRA), results, ax, where)


def kernel(results: Any, ax: Any = None, *, kind: Optional[KernelFigure] = None, **where: Any) -> Any:
    """Kernels by lag. The lag is the position of the query less that of the key.

    results: tables of `checkpoint`: a panel for each of the ten heads with the largest shares beyond chance, and the band
        that holds 95% of the draws of random signs. A kernel is drawn less its mean over the lags, in standard deviations of
        independent tokens' logits. Tables of `kernel` (szego.kernel): the values of encodings, or the kernels of a
        checkpoint's heads, as they are. Tables of `logits`: mean logits, two standard errors to either side, and the band of
        relabelled tokens.
    kind: "mean", the kernel of two independent tokens; "self", that of a token and its own copy; "lag", of captured logits.
        None: a figure for each. `kernel_map`, `shares` and `layers` take it too.
    """
    return _show_positional("kernel", {of: (one, kernel_records.HEADS[of]) for of, one in positional_records.KERNELS.items()},
                            results, ax, kind, where, (lag_records.KERNELS,), (kernel_records.ENTRIES,))


def kernel_map(results: Any, ax: Any = None, *, kind: Optional[KernelKind] = None, **where: Any) -> Any:
    """Heads by lag, the largest share first: kernels as `kernel` has them, grey where no lag is beyond chance. Tables of
    `checkpoint`."""
    return _show_positional("kernel_map", positional_records.MAPS, results, ax, kind, where)


def shares(results: Any, ax: Any = None, *, kind: Optional[KernelFigure] = None, **where: Any) -> Any:
    """Layer by head: the share of the logits' variance that the lag explains, grey within chance. For the self kernel the
    share is an index on the same scale. Tables of `checkpoint`, or of `logits`."""
    return _show_positional("shares", positional_records.SHARES, results, ax, kind, where, (lag_records.SHARES,))


def layers(results: Any, ax: Any = None, *, kind: Optional[KernelKind] = None, **where: Any) -> Any:
    """The largest head's part of each layer's summed shares, and what random signs give it. Tables of `checkpoint`."""
    return _show_positional("layers", positional_records.PARTS, results, ax, kind, where)


def rotary(results: Any, ax: Any = None, **where: Any) -> Any:
    """Rotary energy of a checkpoint: layer by pair, the mean over heads; and by frequency, one panel per layer, one
    line per head. Tables of `checkpoint`."""
    return _show("rotary", rotary_records.SECTION.figures, results, ax, where)


def _compose_positional(section, tables):
    for one in (positional_records.SECTION, lag_records.SECTION):
        if any(figure in one.figures for figure in section.figures):
            yield from one.compose(replace(one, figures=section.figures), tables)
    plain = [figure for figure in section.figures if figure in kernel_records.SECTION.figures]
    yield from compose.compose(plain, tables, kernel_records.SECTION.most)


_COMPOSED = positional_records.SECTION, lag_records.SECTION, kernel_records.SECTION
_POSITIONAL = record.Section("positional", "Positional heads", sum((one.tables for one in _COMPOSED), ()),
                             most=sum(one.most for one in _COMPOSED), compose=_compose_positional)


def _show_positional(name, records, results, ax, kind, where, captured=(), other=()):
    """records: by the kind, one or several. captured: those that show the same of captured logits; other: of no kind."""
    records = {of: one if isinstance(one, tuple) else (one,) for of, one in records.items()}
    records |= {"lag": captured} if captured else {}
    if kind is not None and kind not in records:
        raise ArgumentError(f"kind={kind!r}: {' or '.join(records)}", "SZG_EINVAL")
    chosen = records[kind] if kind else sum(records.values(), ()) + other
    return _show(name, chosen, results, ax, where, section=_POSITIONAL, depth=4,
                 beside=("checkpoint_heads", "checkpoint_kernel", "checkpoint_layers", "logits_lag_shares", "logits_lags"))


# ---- What the page shows in another way, or not as a figure -------------------------------------


def _has_no_course(rows):
    """The rows of runs that have no figure by step: of one step, or where every ratio is 1."""
    kept = np.zeros(rows.source.size, bool)
    for run in rows.pick(contraction_records.MAP.keeps(rows)).split(*contraction_records.MAP.figure_by):
        kept[run.index] = contraction_records.HEADS.skips(run)
    return kept[rows.index]


#: The figures of the page without its words on the content.
_CONTRACTION = replace(contraction_records.SECTION, compose=contraction_records.draw_beside_chance)


def _by_step(figure):
    """The record, which says why a run has no such figure: on the page the map of its heads does."""
    return replace(figure, skipped="there is one step, or every ratio is 1 up to rounding")


_RATIOS = _by_step(contraction_records.MEAN_RATIOS), contraction_records.ORDERS
_CONTRACTIONS = {
    "width_ratio": (contraction_records.HEADS, replace(contraction_records.MAP, keeps=_has_no_course),
                    contraction_records.ORDERS),
    "norm_ratio": _RATIOS, "nuclear_ratio": _RATIOS, "majorised": (_by_step(contraction_records.MAJORISED),),
    "margin": (_by_step(contraction_records.MARGIN),),
    **dict.fromkeys(("toeplitzness_content", "toeplitzness_coupled"), (_by_step(contraction_records.TOEPLITZNESS),))}

_TWO_SPECTRA = record.Figure(
    "contraction-spectra", ("contraction_spectra",), values=record.QUANTILES,
    columns=(record.Column("coupled", "with the encoding", colour="coupled"),
             record.Column("content", "content alone", colour="content")),
    x=spectrum_records.SHARES, y=record.Axis(label="eigenvalue"), subject=words.source)


def _prepare_verdicts(figure):
    names, panel = figure.x.names, figure.panels[0]
    for one in panel.series:
        verdict = one.rows.text("verdict")
        one.name, one.colour = None, claim_records.VERDICTS.get(verdict, (None, None))[1] or "muted"
        if verdict in names:
            names[names.index(verdict)] = f"{words.clipped(verdict)}: {len(one.rows)}"


def _claims_of(rows):
    """"26 claims", and of which result where there are several."""
    of = rows.text("result") if len(set(rows.every().texts("result"))) > 1 else None
    return words.count(len(rows), "claim", "claims") + (f" of {words.clipped(of)}" if of else "")


_VERDICTS = record.Figure(
    "claims-verdicts", ("verify_claims",), figure_by=("result",), marks=record.POINTS,
    series_key=lambda rows: [verdict or "" for verdict in rows.texts("verdict")], x=record.Axis("verdict"),
    y=record.Axis("id"), subject=_claims_of, title="verdicts", prepare=_prepare_verdicts, caption=lambda _: "")


def _compose_lemma(_, tables):
    for trials in tables.rows("verify_lemma").split("result"):
        yield from lemma_records.blocks(trials, None, 2)[0]


def _compose_curves(_, tables):
    certified = tables.rows("verify_certificates")
    groups = certified.split("result", "id")
    for samples in tables.rows("verify_samples").split("result", "id"):
        mine = rows_of.match(groups, samples, "result", "id")
        yield from filter(None, certificate_records.curves(samples, certified.pick([]) if mine is None else mine))


_LEMMA = record.Section("lemma", "Lemma B.1", ("verify_lemma",), compose=_compose_lemma)
_CURVES = record.Section("counterexamples", "Counterexamples", ("verify_samples",), compose=_compose_curves)


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


def _is_one_of(cells, wanted):
    """Which cells are one of these numbers or texts; "" is an empty cell."""
    data, empty = np.ma.getdata(cells), np.ma.getmaskarray(cells)
    if data.dtype.kind not in "fiub":
        return np.isin([str(cell) for cell in np.where(empty, "", data)], [str(one) for one in wanted])
    found = empty | np.isnan(data) if "" in wanted else np.zeros(len(data), bool)
    for one in wanted:
        try:
            found |= (data == (float(one) if isinstance(one, str) else one)) & ~empty
        except ValueError:  # a text that is no number stands in no cell
            continue
    return found


def _chosen(name: str, tables: dict, where: dict) -> dict:
    """The rows that COLUMN=VALUE chooses, of every table that has the column."""
    for column, wanted in where.items():
        having = [of for of, rows in tables.items() if column in rows]
        if not having:
            own = [one for one in inspect.signature(globals()[name]).parameters if one not in ("results", "where")]
            there = sorted({column for rows in tables.values() for column in rows})
            raise unknown_keyword(", ".join(tables), column, [*own, *there])
        wanted = list(wanted) if isinstance(wanted, (list, tuple, range, np.ndarray)) else [wanted]
        for of in having:
            chosen = _is_one_of(tables[of][column], wanted)
            tables = {**tables, of: {one: cells[chosen] for one, cells in tables[of].items()}}
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
    if not any(rows_of.Source(of, tables[of]).size for of in needs if of in tables):
        raise SzegoError(f"{name}: nothing to draw: no rows of {' or '.join(needs)}")
    return tables


def _of_column(records: dict, column: str):
    """The record or records that show this column."""
    if column not in records:
        raise ArgumentError(f"column={column!r}: no figure shows it; there are {', '.join(records)}", "SZG_EINVAL")
    return records[column]


def _show(name: str, records: Sequence[record.Figure], results, ax, where: dict, column: Optional[str] = None,
          section: Optional[record.Section] = None, beside: Sequence[str] = (), depth: int = 3):
    """Axes of the figures that the page has of these records: each is a figure of its own, or all share `ax`.

    section: one that composes its records, or its tables where there are none, in its own way, with those `beside`.
    depth: how many calls above the caller's line is, which warnings name."""
    _check_axes(ax)
    needs = list(dict.fromkeys(of for one in records for of in one.tables)) or section.tables
    tables = _taken(name, results, needs, beside)
    if column:
        _check_column(tables, needs, column)
    chosen = rows_of.Tables(_chosen(name, tables, where))
    with np.errstate(all="ignore"):  # a quotient beyond doubles is no number, as on the page
        found = list(section.compose(replace(section, figures=records), chosen)) if section else compose.compose(
            records, chosen, record.FIGURES)
    drawings = [one for one in found if isinstance(one, blocks.Drawing)]
    most = section.most if section else record.FIGURES
    said = [one.text for one in found if isinstance(one, blocks.Paragraph)]
    said += [f"Left out: {one.title}." for one in drawings[most:]]
    said += [f"{one.title}: {text}" for one in drawings[:most] for text in _not_drawn(one)]
    if not drawings:
        chose = f" with {', '.join(f'{of}={value!r}' for of, value in where.items())}" if where else ""
        there = " or ".join(of for of in needs if of in tables)
        raise SzegoError(f"{name}: nothing to draw{chose}: {' '.join(said) or f'{there} has no numbers for it'}")
    for text in said:
        warnings.warn(f"{name}: {text}", stacklevel=depth)  # the caller's line
    axes = _drawn(name, drawings[:most], ax)
    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object)


def _not_drawn(figure):
    """The sentences of a caption on what is not drawn."""
    return [text for text in re.split(r"(?<=\.) ", figure.caption) if "ot drawn" in text]


def _titled(one: blocks.Drawing, made):
    """What was drawn: over several panels, whose own titles are their names, stands that of the figure."""
    if len(one.panels) > 1 and one.title:
        width, height = made.figure.get_size_inches()
        lines = textwrap.wrap(drawing.plain(one.title), int(12.5 * width))
        made.figure.set_size_inches(width, height + 0.18 * len(lines))
        made.figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=drawing.TEXT)
    return made


def _drawn(name: str, drawings: Sequence[blocks.Drawing], ax) -> list:
    """The Axes of all drawings, in order."""
    if ax is None:
        return [axis for one in drawings for axis in _titled(one, drawing.draw(one)).axes]
    given = list(np.ravel(np.asarray(ax, dtype=object)))
    panels = sum(len(one.panels) for one in drawings)
    if len(given) != panels:
        raise ArgumentError(f"{name}: {panels} panels are drawn, and ax= {len(given)} axes", "SZG_EINVAL")
    axes = iter(given)
    for one in drawings:
        drawing.draw(one, [next(axes) for _ in one.panels])
    return given


def _check_column(tables: dict, needs: Sequence[str], column: str) -> None:
    """Refuses what is no column of numbers of one of the tables."""
    having = {name for of in needs if of in tables for name in tables[of] if tables[of][name].dtype.kind in "fi"}
    if column not in having:
        raise ArgumentError(f"column={column!r}: no column of numbers; there are {', '.join(sorted(having))}",
                            "SZG_EINVAL")


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
    return _joined([table_of(one, key, *more) for one, key in zip(results, _keys(results))])


def _keys(results) -> List[dict]:
    """The source and order of each result; of those that are alike in both the second is SOURCE (2)."""
    seen: Dict[tuple, int] = {}
    keys = []
    for one in results:
        of = one.source, one.n, getattr(one, "convention", None)
        seen[of] = seen.get(of, 0) + 1
        keys.append({"source": one.source + (f" ({seen[of]})" if seen[of] > 1 else ""), "n": one.n})
    return keys


def _joined(parts: List[Dict[str, dict]]) -> Dict[str, dict]:
    tables: Dict[str, dict] = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        having = [part[name] for part in parts if name in part]
        tables[name] = {column: np.concatenate([rows[column] for rows in having]) for column in having[0]}
    return tables
