"""Lemma B.1 over random and adversarial trials: maxima and widths of f against those of g."""
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from . import words
from .compose import add_series, build
from .drawing import Heading, Line, Paragraph
from .record import LOG, POINTS, Axis, Figure

#: Sizes further apart than this are drawn as quotients.
WIDE = 100
EQUAL, OTHER = "max|f| = max|g| exactly", "other trials"


@dataclass(frozen=True)
class Comparison:
    """What is compared, by the beginnings of the columns that enclose it, of f and of g."""
    above: str
    f: str
    g: str
    ratio: str


MAXIMA = Comparison("max|f| above max|g|", "max_f", "max_g", "max|f| / max|g|")
WIDTHS = Comparison("the width of f above that of g", "width_f", "width_g", "width of f / width of g")


# ---- Enclosures ----

def _middles(comparison, rows):
    """(f, g): the middles of the enclosures; NaN where one of the two is none."""
    ends = [(rows.numbers(f"{side}_lo"), rows.numbers(f"{side}_hi")) for side in (comparison.f, comparison.g)]
    known = np.all([(lo <= hi) & np.isfinite(lo) & np.isfinite(hi) for lo, hi in ends], axis=0)
    return tuple(np.where(known, lo / 2 + hi / 2, np.nan) for lo, hi in ends)


def _above(comparison, rows):
    """Where the enclosure of f lies above that of g."""
    return (np.isfinite(_middles(comparison, rows)[0])
            & (rows.numbers(f"{comparison.f}_lo") > rows.numbers(f"{comparison.g}_hi")))


def _kinds(comparison, rows):
    """What each trial is, in the words of the legend."""
    return np.where(_above(comparison, rows), comparison.above, np.where(rows.texts("equality") == "yes", EQUAL, OTHER))


def _prepare(comparison, drawing):
    panel = drawing.panels[0]
    for one in panel.series:
        one.y, one.x = _middles(comparison, one.rows)
        drawing.undrawn += int(np.isnan(one.y).sum())
        one.name = str(_kinds(comparison, one.rows)[0])
        one.colour = {EQUAL: 1, OTHER: 0}.get(one.name, "fails")
    values = np.concatenate([part for one in panel.series for part in (one.x, one.y)])
    values = values[np.isfinite(values)]
    if not len(values):
        return
    low, high = values.min(), values.max()
    if 0 < low < high / WIDE:  # 1 parts the quotients as the diagonal parts the sizes
        for one in panel.series:
            one.y = one.y / one.x
        drawing.figure = replace(drawing.figure, x=replace(drawing.figure.x, scale=LOG))
        drawing.y.label = comparison.ratio
        panel.rules.append(Line("equal", 1.0))
    else:
        add_series(drawing, panel, panel.rows, "equal", [low, high], [low, high], marks="line", colour="muted",
                   thin=True)


# ---- Words ----

def _count(comparison, rows):
    """"0 of 64 trials have max|f| above max|g|", and how many are above and equal; of trials with finite enclosures."""
    known, above = np.isfinite(_middles(comparison, rows)[0]), int(_above(comparison, rows).sum())
    equal = int((known & (rows.texts("equality") == "yes")).sum())
    has = "has" if above == 1 else "have"
    trials = words.count(int(known.sum()), "trial", "trials") + ("" if known.all() else " with finite enclosures")
    return f"{above} of {trials} {has} {comparison.above}", above, equal


def _say_maxima(comparison, drawing):
    text, above, equal = _count(comparison, drawing.rows)
    judged = ", which contradicts the lemma" if above else ", as the lemma says"
    return f"{text}{judged}; {words.count(equal, 'trial has', 'trials have')} equality."


def _say_widths(verdict, comparison, drawing):
    text, above, _ = _count(comparison, drawing.rows)
    text += ", which contradicts L3" if above else ""
    if verdict:
        text += f" ({'verdict' if above else 'verdict on L3'}: {words.clipped(verdict, 40)})"
    return text + "."


# ---- The figures ----

def _figure(comparison, identity, title, names, caption):
    return Figure(identity, ("verify_lemma",), marks=POINTS, series_key=lambda rows: _kinds(comparison, rows),
                  x=Axis(f"{comparison.g}_lo", label=names[1]), y=Axis(f"{comparison.f}_lo", label=names[0]),
                  prepare=partial(_prepare, comparison), title=title, caption=partial(caption, comparison))


def blocks(trials, verdict, most):
    """(blocks, figures left out) on the trials; at most so many figures. verdict: on L3, None: not known."""
    made, left_out = [Heading("Lemma B.1 over random and adversarial trials")], 0
    for comparison, figure in (
            (MAXIMA, _figure(MAXIMA, "claims-lemma-maxima", "Lemma B.1: max|f| against max|g|", ("max|f|", "max|g|"),
                             _say_maxima)),
            (WIDTHS, _figure(WIDTHS, "claims-lemma-widths", "Lemma B.1: width of f against width of g",
                             ("width of f", "width of g"), partial(_say_widths, verdict)))):
        if not np.isfinite(_middles(comparison, trials)[0]).any():
            made.append(Paragraph(f"{figure.title}: the table has no enclosures to draw.", sources=[trials]))
        elif most > 0:
            made.append(build(figure, trials))
            most -= 1
        else:
            left_out += 1
    return made, left_out
