"""The hypotheses that a preset names: differences seed by seed, their mean with its interval, and what is decided; and
the deposit index of every arm beside two references."""
from dataclasses import replace
from functools import partial

import numpy as np

from . import labels, words
from .compose import WIDE, add_series, compose
from .drawing import Drawing, Finding, Heading, Paragraph
from .inference import mean_interval
from .record import POINTS, ROWS, Axis, Figure, Rule, Section
from .rows import Rows, match

STATEMENT = 240
MEAN = "mean over the seeds, 95% interval"
DECISIONS = ("supported", "opposed", "not decided", "not testable", "not complete")


# ---- A hypothesis ----

def _subject(rows):
    """"H3: deposit index of rope/rope less plain/alibi, layer 0"."""
    layer, minus = rows.number("layer"), rows.text("minus")
    text = f"{words.clipped(rows.text('hypothesis'))}: {words.clipped(labels.measure(rows.text('measure')))} of "
    text += words.clipped(rows.text("arm"))
    text += f" less {words.clipped(minus, 2 * words.NAME_CHARACTERS)}" if minus else ""
    return text + (f", layer {words.number(layer)}" if np.isfinite(layer) else "")


def _mean(rows):
    mean, low, high = (rows.number(column) for column in ("difference", "t_low", "t_high"))
    if not np.isfinite(mean):
        return "; no seed has a difference"
    interval = f" [{words.number(low)}, {words.number(high)}]" if np.isfinite(low) else ""
    pairs = rows.number("pairs")
    over = f" over {words.count(pairs, 'seed', 'seeds')}" if np.isfinite(pairs) else ""
    return f"; mean {words.number(mean)}{interval}{over}"


def _verdict(rows):
    """"It is larger. Result: not decided; mean 0.1 [-0.2, 0.4] over 9 seeds, p = 0.3, after Holm 1; 1 seed failed."""
    text = (f"{words.clipped(rows.text('statement'), STATEMENT)} Result: {words.clipped(rows.text('decision'))}"
            f"{_mean(rows)}")
    for column, name in (("p", "p ="), ("p_holm", "after Holm")):
        if np.isfinite(rows.number(column)):
            text += f", {name} {words.number(rows.number(column))}"
    for column, one, many in (("failed", "seed failed", "seeds failed"),
                              ("missing", "seed has not run", "seeds have not run")):
        if rows.number(column) > 0:
            text += f"; {words.count(rows.number(column), one, many)}"
    return text + "."


def _hypothesis_of(hypotheses, rows):
    """The row of the same result and name in the table of hypotheses; None: it is not there."""
    return match(hypotheses.split("result", "hypothesis"), rows, "result", "hypothesis")


def _say_verdict(hypotheses, drawing):
    found = _hypothesis_of(hypotheses, drawing.rows)
    return _verdict(found) if found else "The table of hypotheses does not name this one."


def _add_mean(hypotheses, drawing):
    """The mean has a place of its own, behind those of the seeds."""
    found, panel = _hypothesis_of(hypotheses, drawing.rows), drawing.panels[0]
    if not found:
        return
    mean = add_series(drawing, panel, panel.rows, MEAN, [found.number("difference")], [len(drawing.y.names)],
                      lo=np.array([found.number("t_low")]), hi=np.array([found.number("t_high")]))
    mean.flat = True
    drawing.y.names = drawing.y.names + ["mean, 95%"]


DIFFERENCES = Figure("mechanism-differences", ("reproduce_pairs",), needs=("seed", "difference"),
                     undone="the differences are not drawn", known=("difference",),
                     figure_by=("result", "hypothesis"), group_by=("result", "hypothesis"), marks=POINTS,
                     x=Axis("difference"), y=Axis("seed", places=True),
                     rules=(Rule("0: no difference", at=0, vertical=True),),
                     hover=("seed", "arm_value", "minus_value", "difference"), subject=_subject,
                     series_name=lambda rows: "a seed", title="differences seed by seed")


# ---- The index of the arms ----

def _index_subject(rows):
    return (f"Task {words.clipped(rows.text('task'))}, heads ablated by {words.clipped(rows.text('method'))}, layer "
            f"{words.number(rows.number('layer'))}")


def _prepare_indices(drawing):
    """The mean of each arm beside its seeds, and what of its interval an index can be."""
    if drawing.y.names is None:  # the table has no column of texts `arm`
        return
    panel, seeds = drawing.panels[0], drawing.panels[0].series[0]
    places = np.arange(len(drawing.y.names))
    found = np.array([mean_interval(seeds.x[seeds.y == place]) for place in places]).reshape(-1, 3)
    means = add_series(drawing, panel, panel.rows, MEAN, found[:, 0], places + 0.25,
                       lo=np.maximum(found[:, 1], 0), hi=np.minimum(found[:, 2], 1))
    means.flat = True
    for colour, rule in enumerate(panel.rules, 3):
        rule.colour = colour


def _say_beyond(drawing):
    """"Of 24 indices, 5 exceed what uniform shares exceed in 5% (0.77; on average they give 0.52), and 9 ..."""
    rows = drawing.rows
    above = {column: _beyond(rows, column)[0] for column in ("dirichlet_95", "equal_95")}
    mean = {column: words.number(_mean_of(rows.numbers(column)))
            for column in ("dirichlet_95", "dirichlet_mean", "equal_95")}
    return (f"Of {words.count(len(rows), 'index', 'indices')}, {_exceed(above['dirichlet_95'])} what uniform shares "
            f"exceed in 5% ({mean['dirichlet_95']}; on average they give {mean['dirichlet_mean']}), and "
            f"{_exceed(above['equal_95'])} what equal heads of the same run exceed in 5% (the mean of these limits is "
            f"{mean['equal_95']}). All arms are counted together.")


def _beyond(rows, column):
    """(how many indices exceed the column's number, how many have one)."""
    known = rows.known(column)
    return int((known.numbers("index") > known.numbers(column)).sum()), len(known)


def _exceed(count):
    return words.count(count, "exceeds", "exceed")


def _mean_of(values):
    values = values[np.isfinite(values)]
    return float(np.mean(values)) if len(values) else np.nan


def _without_index(rows):
    """How many rows of the figure's result, task, method and layer have no index."""
    every = Rows(rows.source, np.arange(rows.source.size))
    alike = [group for group in every.split("result", "task", "method", "layer") if rows.index[0] in group.index]
    return int((~np.isfinite(alike[0].numbers("index"))).sum()) if alike else 0


def _find_beyond(drawing):
    parts = []
    (equal, of_equal), (uniform, of_uniform) = (_beyond(drawing.rows, of) for of in ("equal_95", "dirichlet_95"))
    if of_equal:
        parts.append(f"of {words.count(of_equal, 'deposit index', 'deposit indices')}, {_exceed(equal)} what equal heads of "
                     "the same run exceed in 5%")
    if of_uniform:
        of = words.exact(of_uniform) if of_equal else words.count(of_uniform, "deposit index", "deposit indices")
        parts.append(f"of {of}, {_exceed(uniform)} what shares uniform on the simplex exceed in 5% "
                     f"(about {words.number(of_uniform / 20)} would if shares were so)")
    missing = _without_index(drawing.rows)
    if missing:
        parts.append(f"{words.count(missing, 'run has', 'runs have')} no index, because their drops are too small")
    return f"{_index_subject(drawing.rows)}: {'; '.join(parts)}." if of_equal or of_uniform else None


INDICES = Figure("mechanism-indices", ("reproduce_arms",), needs=("index", "layer"),
                 undone="the arms' indices are not drawn", known=("index",),
                 figure_by=("result", "task", "method", "layer"), group_by=("result", "task", "method"), marks=POINTS,
                 x=Axis("index", label="share of the drops", lo=0, hi=1), y=Axis("arm"),
                 rules=(Rule("equal heads, 95%, mean of the runs", column="equal_95", vertical=True),
                        Rule("uniform shares, mean", column="dirichlet_mean", vertical=True),
                        Rule("uniform shares, 95%", column="dirichlet_95", vertical=True)),
                 hover=("arm", "seed", "index", "total_drop", "equal_95", "note"), subject=_index_subject,
                 series_name=lambda rows: "a seed", prepare=_prepare_indices, width=WIDE, title="deposit index by arm",
                 caption=_say_beyond, finding=_find_beyond)
LISTED = Figure("mechanism-listed", ("reproduce_hypotheses",), marks=ROWS, heading="Every hypothesis",
                keeps=lambda rows: rows.texts("hypothesis").astype(bool),
                shown=("hypothesis", "statement", "pairs", "failed", "difference", "t_low", "t_high", "p", "p_holm",
                       "decision"))


# ---- Claims of the paper's later version ----

_KERNEL, _FREQUENCY = "variants/rope-bias:scale=8", "variants/rope:theta=0.3"
#: Claim, what it says (as a page about that version has it; we have not read the version), and the differences of the
#: preset `mechanism` that bear on it: measure, layer, arm, what is subtracted.
LATER = (
    ("C1", "the Toeplitz structure splits encodings into additive and multiplicative couplings, and the multiplicative "
           "one couples differently",
     (("index", 0, _KERNEL, "rope/rope"), ("accuracy", None, "rope/rope", _KERNEL),
      ("accuracy", None, "rope/rope", "plain/absolute"))),
    ("C2", "RoPE puts nearly all positional work into a single head of a shallow layer",
     (("index", 0, "rope/rope", "plain/nope"), ("index", 1, "rope/rope", "plain/nope"),
      ("index", 0, "rope/rope", "plain/absolute|plain/alibi"), ("index", 1, "rope/rope", "plain/absolute|plain/alibi"),
      ("index", 0, "plain/alibi", "rope/rope"), ("index", 0, "rope/rope", "plain/absolute"),
      ("index", 1, "rope/rope", "plain/absolute"), ("index", 1, "plain/alibi", "rope/rope"))),
    ("C3", "the multiplicative structure itself causes the deposit: ablations and gradients show it",
     (("index", 0, "still-other/rope", "still/rope"), ("rank_correlation", 0, "rope/rope", None),
      ("index", 0, "frozen-other/rope", "frozen/rope"), ("index", 0, _FREQUENCY, "rope/rope"),
      ("accuracy", None, "still-other/rope", "still/rope"))))
#: Arms in which a head of RoPE's run of the same seed is kept from rotating, or from training.
_HELD = ("still/rope", "still-other/rope", "frozen/rope", "frozen-other/rope")


def _asked(rows):
    """By measure, layer, arm and what is subtracted: the hypothesis."""
    layers = (int(layer) if np.isfinite(layer) else None for layer in rows.numbers("layer"))
    keys = zip(rows.texts("measure"), layers, rows.texts("arm"), rows.texts("minus"))
    return {key: rows.pick([i]) for i, key in enumerate(keys)}


def _winners(arms):
    """"still/rope: RoPE's worst head is the worst again in 0 of 10 seeds", of layer 0."""
    kept = (arms.numbers("layer") == 0) & (arms.texts("method") == "output")
    worst = {(arm, seed): head for arm, seed, head in zip(arms.texts("arm")[kept], arms.numbers("seed")[kept],
                                                         arms.numbers("worst_head")[kept]) if np.isfinite(head)}
    for held in _HELD:
        seeds = [seed for arm, seed in worst if arm == held and ("rope/rope", seed) in worst]
        if seeds:
            same = sum(worst[held, seed] == worst["rope/rope", seed] for seed in seeds)
            yield (f"{held}: RoPE's worst head is the worst again in {same} of "
                   f"{words.count(len(seeds), 'seed', 'seeds')}")


def _later_claims(hypotheses, arms):
    """What the runs say of each claim; nothing where the preset asks for none of these differences."""
    asked, told = _asked(hypotheses), []
    for claim, statement, differences in LATER:
        found = [asked[key] for key in differences if key in asked]
        said = [f"{_subject(rows)}{_mean(rows)}" for rows in found]
        said += _winners(arms) if said and claim == "C3" else ()
        if said:
            told.append(Paragraph(f"{claim}, that {statement}. Measured: {'. '.join(said)}.", sources=[*found, arms]))
    if told:
        yield Heading("Claims of the paper's later version")
        yield from told


# ---- The section ----

def _undrawn(hypotheses):
    """A hypothesis without any pair has no figure; its sentence stands alone."""
    for i in np.flatnonzero(~(hypotheses.numbers("pairs") > 0)):
        rows = hypotheses.pick([i])
        yield Paragraph(f"{words.clipped(rows.text('hypothesis'))}: {_verdict(rows)}", sources=[rows])


def _decisions(hypotheses):
    """"Of 6 primary hypotheses, 4 are not decided, 2 are not testable." """
    primary = hypotheses.where("primary", "yes")
    if len(primary) == 1:
        yield Finding(f"The only primary hypothesis, {words.clipped(primary.text('hypothesis'))}, is "
                      f"{words.clipped(primary.text('decision') or 'without a decision')}.")
    elif len(primary):
        counts = {decision: int((primary.texts("decision") == decision).sum()) for decision in DECISIONS}
        counted = [f"{count} {'is' if count == 1 else 'are'} {decision}" for decision, count in counts.items() if count]
        yield Finding(f"Of {len(primary)} primary hypotheses, {', '.join(counted) or 'none has a decision'}.")


def _compose(section, tables):
    hypotheses = tables.rows("reproduce_hypotheses")
    blocks = compose((replace(DIFFERENCES, prepare=partial(_add_mean, hypotheses),
                              caption=partial(_say_verdict, hypotheses)),), tables, section.most)
    yield from blocks
    yield from _undrawn(hypotheses)
    yield from _decisions(hypotheses)
    arms = tables.rows("reproduce_arms")
    for own in hypotheses.split("result"):
        yield from _later_claims(own, arms.pick(arms.texts("result") == own.text("result")))
    yield from compose((INDICES, LISTED), tables, section.most - sum(isinstance(one, Drawing) for one in blocks))


SECTION = Section(
    "mechanism", "Hypotheses", ("reproduce_hypotheses", "reproduce_arms"),
    "The preset names these hypotheses. Arms are named by experiment and encoding, as in text/rope. A point is a seed: the number of one arm less that of the other, or less the "
    "mean of others, with the same seed. The test flips the signs of the differences in all ways. Holm's rule adjusts "
    "its p over the primary hypotheses. One is supported or opposed if the adjusted p is at most 0.05. It is not "
    "testable with fewer than five pairs. An exploratory one has no decision. A seed fails if a run lacks the number: "
    "an index, if the layer's drops come to 0.05 or less. Two references are drawn beside the indices. Equal heads: every "
    "head costs the same, and the test split has a sampling error. Uniform shares: the heads' shares are uniform on the "
    "simplex. That is a yardstick, not what chance gives: that heads are alike fixes no value of the index.",
    (DIFFERENCES, INDICES), most=32, compose=_compose)
