"""Logits with their encoding against those without it: training runs, saved models, files, one encoding."""
from dataclasses import dataclass, replace
from functools import partial
from typing import Optional

import numpy as np

from . import labels, rows as rows_of, words
from .compose import compose, outlier_heads
from .drawing import Paragraph
from .heads import extent
from .lagmap import two
from .record import CELLS, CHOSEN, LOG, MEANS, Axis, Column, Figure, Rule, Section

TABLES = ("train_contraction", "reproduce_contraction", "capture_contraction", "logits_contraction",
          "spectrum_contraction")
RATIOS = (Column("width_ratio", "widths"), Column("norm_ratio", "spectral norms"),
          Column("nuclear_ratio", "nuclear norms"))
ONE = Rule("1: as the content", at=1)
#: Rounding of logits in single precision, many times over.
ROUNDING = 1e-6
UNKNOWN = (np.nan, np.nan, np.nan)


# ---- Which rows ----

def _has_head(rows):
    return np.isfinite(rows.numbers("layer")) & np.isfinite(rows.numbers("head"))


def _has_no_head(rows):
    return ~_has_head(rows)


def _is_unchanged(rows):
    """Every ratio is 1 up to rounding."""
    ratios = np.concatenate([rows.numbers(of.column) for of in RATIOS])
    ratios = ratios[~np.isnan(ratios)]
    return len(ratios) > 0 and bool((np.abs(ratios - 1) <= ROUNDING).all())


def _is_short(rows):
    """One step is no course."""
    return not rows.has_several("step") or _is_unchanged(rows)


# ---- What is seen ----

def _subject(rows):
    """"rope, count (text), seed 0, in rep"."""
    text, seed, result = words.run(rows), rows.number("seed"), rows.text("result")
    text += f", seed {words.number(seed)}" if np.isfinite(seed) else ""
    return text + (f", in {words.clipped(result)}" if result and result != "." else "")


def _below(ratios):
    return int(((ratios < 1) & (np.abs(ratios - 1) > ROUNDING)).sum())


def _bands(tables, rows):
    """{(step, layer, head): (low, high, outside)} of ratios where the tokens are relabelled (`szego logits --band`): means
    over the probes, which are wider than the band of the mean; and the probability that chance lies outside of one. A
    head of which a probe has no band is not there."""
    table = rows_of.match(tables.rows("logits_bands").split("result", "source"), rows, "result", "source")
    found = {}
    for group in table.split("step", "layer", "head") if table is not None and rows.table == "logits_contraction" else ():
        draws = group.numbers("draws").min()
        outside = 2 * max((draws + 1) // 40, 1) / (draws + 1)  # of few draws the ends are the least and the greatest
        ends = group.numbers("width_low").mean(), group.numbers("width_high").mean(), outside
        if np.isfinite(ends).all():
            found[group.cell("step"), group.cell("layer"), group.cell("head")] = ends
    return found, table


def _sides(ratios, ends):
    """Masks of ratios that are narrower than chance, wider, and within it. ends: [count, 3], NaN: chance is not known.
    Of a ratio that lies outside and on the other side of 1, none holds."""
    low, high, _ = np.asarray(ends, float).reshape(-1, 3).T
    below, above = ratios < low - ROUNDING, ratios > high + ROUNDING
    return below & (ratios < 1), above & (ratios > 1), np.isfinite(low) & np.isfinite(ratios) & ~below & ~above


def _kept(count):
    return f"it leaves {words.count(count, 'more head', 'more heads')} as {'it is' if count == 1 else 'they are'}"


def _counted(ratios, ends):
    """"3 of 8 heads (width ratios 0.7 to 1.2)"; heads that it leaves as they are, as they do not rotate, are apart.
    With the ends of chance, only the heads beyond it count."""
    ends = np.asarray(ends, float).reshape(-1, 3)
    finite = np.isfinite(ratios)
    ratios, ends = ratios[finite], ends[finite]
    changes = np.abs(ratios - 1) > ROUNDING
    changed, ends = ratios[changes], ends[changes]
    if not len(changed):
        return f"0 of {words.count(len(ratios), 'head', 'heads')}"
    kept = len(ratios) - len(changed)
    tail = f"; {_kept(kept)}" if kept else ""
    known = np.isfinite(ends).all(axis=1)
    extents = f"width ratio{'' if len(changed) == 1 else 's'} {extent(changed)}"
    if not known.any():
        return f"{_below(ratios)} of {words.count(len(changed), 'head', 'heads')} ({extents}{tail})"
    return _beyond(changed, ends, known, extents) + tail


def _beyond(ratios, ends, known, extents):
    """"2 of 8 heads beyond what relabelled tokens give (...); 1 is wider than that, 5 are within"."""
    narrower, wider, within = (int(mask.sum()) for mask in _sides(ratios, ends))
    count, unknown = int(known.sum()), int((~known).sum())
    odd = count - narrower - wider - within
    text = (f"{narrower} of {words.count(count, 'head', 'heads')} beyond what relabelled tokens give ({extents}); {wider} "
            f"{'is' if wider == 1 else 'are'} wider than that, {within} within; by chance alone up to "
            f"about {two(ends[known, 2].sum())} would lie outside")
    text += f"; {odd} outside on the other side of 1" if odd else ""
    return text + (f"; of {words.count(unknown, 'more head', 'more heads')} chance is not known" if unknown else "")


@dataclass(frozen=True)
class Chance:
    """What relabelled tokens give each head, and why some have no band, where the tables say so."""
    ends: dict
    note: Optional[str] = None

    def of(self, step, layer, head):
        return self.ends.get((step, layer, head), UNKNOWN)


def _chance(drawing):
    return drawing.own or Chance({})


def _take_bands(tables, drawing):
    """What chance gives each head; cells within it are grey."""
    found, table = _bands(tables, drawing.rows)
    steps = drawing.rows.distinct("step")
    last = steps[-1] if len(steps) else None
    if all(step != last for step, _, _ in found):  # a band of another step says nothing of the last one
        found = {}
    notes = [] if table is None else [note for note in table.texts("note") if note]
    drawing.own = Chance(found, notes[0] if notes else None)
    if found:
        drawing.sources.append(table)
    cells = drawing.cells
    if cells and found:
        _, _, within = _sides(cells.value.ravel(), _ends_of_cells(drawing))
        cells.grey = within.reshape(cells.value.shape)


def _ends_of_cells(drawing):
    cells, step = drawing.cells, drawing.rows.cell("step")
    return [_chance(drawing).of(step, layer, head) for layer in cells.row_keys for head in cells.column_keys]


def _say_chance(drawing):
    """What a reader must know where no head has a band of chance, and how to get one; nothing where one has."""
    chance = _chance(drawing)
    if chance.ends:
        return ""
    text = " Chance is not known: random queries and keys have ratios on both sides of 1 too"
    if chance.note:
        return f"{text} ({words.clipped(chance.note, 200)})."
    if "zeroed" in drawing.rows.texts("content_kind"):
        return f"{text}."
    return f"{text}. szego logits DUMP --band 39 gives their range, from a dump with q and k."


def _at_step(drawing, step):
    """The finite values of the lines at a step, and the ends of chance of each."""
    found = [(y, _chance(drawing).of(step, one.rows.cell("layer"), one.rows.cell("head")))
             for one in drawing.every() for y in one.y[one.x == step] if np.isfinite(y)]
    return np.array([y for y, _ in found]), [ends for _, ends in found]


def _ends(drawing):
    """The least and the greatest x."""
    x = np.concatenate([one.x for one in drawing.every()])
    return np.min(x), np.max(x)


def _say_steps(drawing):
    first, last = _ends(drawing)
    (before, chance), (after, ends) = _at_step(drawing, first), _at_step(drawing, last)
    known = f" of {len(before)}" if len(before) != len(after) else ""
    count = int(_sides(before, chance)[0].sum()) if _chance(drawing).ends else _below(before)
    return (f"At step {words.number(last)} the encoding narrows {_counted(after, ends)}; at step {words.number(first)} it "
            f"narrowed {count}{known}{outlier_heads(drawing)}.{_say_chance(drawing)}")


def _say_cells(drawing):
    step = drawing.rows.number("step")
    at = f"At step {words.number(step)} the" if np.isfinite(step) else "The"
    grey = " Grey: within what relabelled tokens give." if _chance(drawing).ends else ""
    return (f"{at} encoding narrows {_counted(drawing.cells.value.ravel(), _ends_of_cells(drawing))}.{_say_chance(drawing)} "
            f"Ratios below 1 are blue.{grey}")


def _found(drawing, counted):
    unknown = "" if _chance(drawing).ends else "; chance is not known"
    return (f"Logits, {_subject(drawing.rows)}: the encoding narrows the width of the Hermitian part in "
            f"{counted}{unknown}{outlier_heads(drawing)}.")


def _say_finding(drawing):
    return _found(drawing, _counted(*_at_step(drawing, _ends(drawing)[1])))


def _find_cells(drawing):
    """A finding of the map where chance is known."""
    return _found(drawing, _counted(drawing.cells.value.ravel(), _ends_of_cells(drawing))) if _chance(drawing).ends else []


def _say_last(drawing):
    """"At training step 300: widths 0.5 to 0.7, ...": over the layers."""
    figure, course = drawing.figure, drawing.x_column != "head"
    parts = []
    for column in figure.columns or (None,):
        lines = [one for one in drawing.every() if one.column is column]
        values = np.array([v for one in lines for v in ([one.last()] if course else one.y)])
        values = values[np.isfinite(values)]
        if len(values):
            upper = f" to {words.number(values.max())}" if values.max() > values.min() else ""
            parts.append(f"{column.name if column else figure.y.label} {words.number(values.min())}{upper}")
    if not course:
        return f"From head to head: {', '.join(parts)}."
    across = ", from layer to layer" if len(drawing.panels) > 1 else ""
    name = labels.words(drawing.x_column, drawing.rows.table)
    return f"At {name} {words.number(_ends(drawing)[1])}{across}: {', '.join(parts)}."


def _say_majorised(drawing):
    """"At step 300 the content majorises the logits in a share of 0 to 0.25 of the heads and probes, by layer."""
    last = _ends(drawing)[1]
    values, _ = _at_step(drawing, last)
    if not (values > 0).any():
        share, where = "none", "in any layer"
    else:
        share, where = f"a share of {extent(values)}", "in each layer" if values.min() == values.max() else "by layer"
    where = f", {where}" if len(drawing.panels) > 1 else ""
    return f"At step {words.number(last)} the content majorises the logits in {share} of the heads and probes{where}."


def _drop_areas(drawing):
    """Areas of three columns would hide each other; those of a share reach from 0 to 1."""
    for one in drawing.series():
        one.lo = one.hi = None


# ---- Records ----

BY_RUN = dict(tables=TABLES, figure_by=("result", "run", "encoding", "task", "seed", "source"),
              group_by=("encoding", "task", "source"), subject=_subject)
BY_STEP = dict(BY_RUN, keeps=_has_head, skips=_is_short, panel_by=("layer",), values=MEANS, x=Axis("step"))

HEADS = Figure("contraction-heads", **BY_STEP, needs=("width_ratio", "step"), series_by=("head",), outliers=True,
               by_last=True, y=Axis("width_ratio", scale=CHOSEN), rules=(ONE,),
               title="ratio of widths by head", caption=_say_steps, finding=_say_finding)
MAP = Figure("contraction-map", **BY_RUN, keeps=_has_head, skips=_is_unchanged,
             skipped="every ratio is 1 up to rounding", last="step", needs=("width_ratio",),
             undone="ratios of widths are not drawn", marks=CELLS, x=Axis("head"), y=Axis("layer"),
             value="width_ratio", middle=1, title="ratio of widths, mean over probes", caption=_say_cells,
             finding=_find_cells)
ORDERS = Figure("contraction-orders", **BY_RUN, columns=RATIOS, rules=(ONE,), y=Axis(label="ratio", scale=CHOSEN),
                caption=_say_last, keeps=_has_no_head, skips=_is_unchanged,
                skipped="every ratio is 1 up to rounding", values=MEANS,
                x=Axis("n", otherwise="head", scale=LOG), title="ratio to the content")
MEAN_RATIOS = Figure("contraction-ratios", **BY_STEP, columns=RATIOS, rules=(ONE,),
                     y=Axis(label="ratio", scale=CHOSEN), caption=_say_last, prepare=_drop_areas,
                     title="mean ratio to the content")
TOEPLITZNESS = Figure("contraction-toeplitzness", **BY_STEP,
                      columns=(Column("toeplitzness_coupled", "with the encoding", colour="coupled"),
                               Column("toeplitzness_content", "content alone", colour="content")),
                      y=Axis(label="toeplitzness"), prepare=_drop_areas,
                      title="toeplitzness of the logits", caption=_say_last)
MAJORISED = Figure("contraction-majorised", **BY_STEP, needs=("majorised",),
                   y=Axis("majorised", label="share majorised", lo=0, hi=1), prepare=_drop_areas,
                   title="share of heads and probes majorised", caption=_say_majorised)
MARGIN = Figure("contraction-margin", **BY_STEP, needs=("margin",), y=Axis("margin", label="mean slack"),
                rules=(Rule("0: majorised", at=0),), title="slack of the majorisation",
                caption=_say_last)


def _compose(section, tables):
    kinds = {kind for name in section.tables for kind in tables.rows(name).texts("content_kind")}
    if "same_qk" in kinds:
        yield Paragraph("Content (same_qk): the same queries and keys, without rotation and lag bias.")
    if "zeroed" in kinds:
        yield Paragraph("Content (zeroed): a second pass with the table of positions set to zero, so that queries and "
                        "keys differ too.")
    if not kinds & {"same_qk", "zeroed"}:
        yield Paragraph("The rows do not say what the logits are compared with.")
    yield from draw_beside_chance(section, tables)


def draw_beside_chance(section, tables):
    """The section's figures; those of the heads' ratios know what chance gives."""
    figures = tuple(replace(one, prepare=partial(_take_bands, tables)) if one.id in (HEADS.id, MAP.id) else one
                    for one in section.figures)
    return compose(figures, tables, section.most)


SECTION = Section(
    "contraction", "Contraction", TABLES,
    "A ratio compares the logits with the encoding to the logits without it; lines are means over probes. The width is "
    "that of the Hermitian part's spectrum, the real part of the field of values. A rotary encoding cannot widen it if "
    "all its frequencies share one content matrix (claim B3c). The frequencies of a trained head have different content "
    "matrices, so its ratio may exceed 1. Random queries and keys have ratios on both sides of 1: only a ratio outside of what "
    "relabelled tokens give shows an effect of their order.",
    (HEADS, MAP, ORDERS, MEAN_RATIOS, TOEPLITZNESS, MAJORISED, MARGIN), most=16, compose=_compose)
