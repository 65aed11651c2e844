"""Which heads of captured logits are positional, at which lags, and is it more than chance?"""
import functools

import numpy as np

from . import chance, lagmap, rows as rows_of, words
from .chance import LEVEL, Heads, largest_share, prepare_shares, rounded, say_greys
from .compose import build
from .drawing import Finding, Heading, Paragraph
from .lagmap import name, two
from .record import CELLS, LINE, Axis, Figure, Section

#: Dumps that are drawn.
DUMPS = 4
KIND = "lag"
#: Of the error, to either side of a mean.
ERRORS = 2


def _dump(rows):
    """"dump.safetensors, in logits", "at step 300" where the rows have steps."""
    result, step = rows.text("result"), rows.number("step")
    text = words.file(rows.text("source"))
    text += f", in {words.clipped(result)}" if len(set(rows.every().texts("result"))) > 1 else ""
    return text + (f", step {words.number(step)}" if np.isfinite(step) else "")


# ---- Sentences ----

def _percent(value):
    return f"{two(100 * value)}%"


def _say_strongest(head):
    """Its share, and the lag whose mean has the largest part of it."""
    by_chance = f" (by chance up to {_percent(head.number('lag_null'))})" if np.isfinite(head.number("lag_null")) else ""
    return (f"the strongest, {name(head)}, {_percent(head.number('lag_share'))}{by_chance}, most at lag "
            f"{words.number(head.number('lag_peak'))}")


def say_heads(heads):
    """"dump: in 3 of 8 heads the lag explains more of the logits than chance (...); the strongest, ...": the finding."""
    tested, where = int(heads.tested.sum()), _dump(heads.rows)
    if not tested:
        note = heads.rows.text("note")
        return (f"{where}: the lag explains up to {_percent(heads.share[0])} of the logits' variance ({name(heads.one(0))}); "
                f"whether that is more than chance is not known{f' ({words.clipped(note, 200)})' if note else ''}.")
    verdicts = heads.rows.texts("beyond_chance")
    chosen, alone = np.isin(verdicts, ("yes", "alone")), verdicts == "alone"
    how = "at most 5% false ones, Benjamini and Hochberg"
    if alone.any():
        draws = words.number(heads.rows.numbers("draws")[alone].min())
        how = f"each at 5%, {two(LEVEL * tested)} would by chance alone; {draws} relabellings are too few for all heads together"
    text = f"{where}: in {int(chosen.sum())} of {words.count(tested, 'head', 'heads')} the lag explains more of the logits " \
           f"than chance ({how})"
    text += f"; {_say_strongest(heads.one(int(np.argmax(chosen))))}" if chosen.any() else ""
    rest = len(heads) - tested
    return text + (f"; of {words.count(rest, 'more head', 'more heads')} chance is not known." if rest else ".")


def _say_shares(drawing):
    none = int(np.isnan(drawing.rows.numbers("lag_p")).sum())
    unknown = f"; {words.count(none, 'head has', 'heads have')} no null: of these chance is not known" if none else ""
    return f"{largest_share(drawing)}; {say_greys(drawing)}{unknown}."


def _say_panels(heads, drawing):
    several = len(heads) > 1
    known = sum(np.isfinite(head.number("lag_p")) for head in heads)
    text = f"{f'The {len(heads)} heads' if several else 'The head'} with the largest {'shares' if several else 'share'} " \
           f"{'beyond chance' if known == len(heads) else 'that chance does not explain' if known else 'of all'}; titles have the shares. " \
           "The line is the mean of the logits at a lag, and its area two standard errors to either side."
    if known:
        text += " The grey band holds 95% of the means where the tokens are relabelled at random."
    if known < len(heads):
        text += " Where there is no band chance is not known."
    return text + (" Panels have scales of their own." if several else "")


# ---- Figures ----

SHARES = Figure("lag-shares", ("logits_lag_shares",), marks=CELLS, x=Axis("head"), y=Axis("layer"), value="lag_share",
                value_lo=0, subject=_dump, title="share of the logits' variance that the lag explains",
                prepare=prepare_shares(KIND), caption=_say_shares)
KERNELS = Figure("lag-kernels", ("logits_lags",), panel_by=("layer", "head"), marks=LINE, x=Axis("lag"), y=Axis("mean"),
                 lo="low", hi="high", area=True, subject=_dump, title="mean logit by lag, and chance")
STEPS = Figure("lag-steps", ("logits_lag_shares",), known=("lag_share",), panel_by=("layer",), series_by=("head",),
               outliers=True, by_last=True, x=Axis("step"), y=Axis("lag_share"),
               subject=lambda rows: words.file(rows.text("source")), title="share that the lag explains, by step")
FIGURES = (SHARES, KERNELS, STEPS)


def _take_error(_, one):
    """The area is the error of the line; the band of chance is on its own."""
    band = one.lo, one.hi
    error = ERRORS * one.rows.numbers("error")
    one.lo, one.hi = one.y - error, one.y + error
    return band


def _panels(heads, table):
    """The Drawing of the ten heads with the largest shares that are not within chance; None: there is none."""
    groups = {(rows.cell("layer"), rows.cell("head")): rows for rows in table.split("layer", "head")}
    chosen = [heads.one(i) for i in np.flatnonzero(~heads.within)]
    pairs = [(head, groups.get((head.cell("layer"), head.cell("head")))) for head in chosen]
    pairs = [(head, rows.known("mean")) for head, rows in pairs if rows is not None and len(rows.known("mean"))]
    if not pairs:
        return None
    shown, rows = zip(*pairs[:lagmap.PANELS])
    figure = Figure(**{**KERNELS.__dict__, "caption": functools.partial(_say_panels, shown)})
    one = lagmap.draw_panels(figure, shown, rows, KIND, "mean logit, two errors to either side",
                             "chance: 95% of relabellings", _take_error)
    one.free_y = True
    return one


def _last(rows):
    steps = rows.distinct("step")
    return rows.pick(rows.numbers("step") == steps[-1]) if len(steps) else rows


def _draw(section, rows, table):
    heads = Heads(_last(rows), KIND)
    made = []
    if SHARES in section.figures:
        made += [build(SHARES, heads.rows), chance.ranking(
            heads, ("p", True, rounded("lag_p", "not known")), chance.peak(KIND))]
    made = [one for one in made if one is not None]
    yield from made[:1] + [Finding(say_heads(heads))] + made[1:]
    if KERNELS in section.figures:
        yield from filter(None, [_panels(heads, _last(table))])
        if heads.within.all():
            yield Paragraph("No kernel is drawn: no head's share is beyond chance.", sources=[heads.rows])
    if STEPS in section.figures and rows.known("lag_share").has_several("step"):
        yield from filter(None, [build(STEPS, rows)])


def _compose(section, tables):
    every = tables.rows("logits_lag_shares")
    dumps, kernels = every.split("result", "source"), tables.rows("logits_lags").split("result", "source")
    for rows in dumps[:DUMPS]:
        if len(dumps) > 1:
            yield Heading(_dump(_last(rows)))
        table = rows_of.match(kernels, rows, "result", "source")
        if len(_last(rows).known("lag_share")):
            yield from _draw(section, rows, every.pick([]) if table is None else table)
        noted = _last(rows)
        yield from chance.say_notes(noted.pick(noted.texts("note").astype(bool)), "head has a note", "heads have a note")
    yield from chance.say_rest([_dump(_last(rows)) for rows in dumps[DUMPS:]], every)


SECTION = Section(
    "lag-share", "Positional heads of captured logits", ("logits_lag_shares",),
    "The share is the part of the variance of a head's coupled logits that their means by lag explain. The diagonal and the "
    "first token are left out. Chance is the same logits with the tokens relabelled at random: 95% of the relabellings stay "
    "below. In text, neighbours also resemble each other, which shows as content that depends on the lag. A share near its "
    "chance is small even where it is beyond it, so read the size.",
    FIGURES, most=3 * DUMPS, compose=_compose)
