"""Attention while a model trains: does a head come near the limit of its logits, when, how much headroom is proved, and how
much was seen?"""
import re

import numpy as np

from . import words
from .compose import add_series, outlier_heads
from .drawing import Line
from .record import CELLS, CHOSEN, LOG, MEANS, Axis, Figure, Section

TABLE = "monitor_monitor"
PROVED, SEEN = "proved bound", "largest logit seen"


def _run(path):
    """The folder of a run: processes of one have folders rank-0, rank-1, ... in it."""
    folder, _, last = (path or "").rpartition("/")
    return (folder or ".") if re.fullmatch(r"rank-\d+", last) else path or ""


def _run_keys(rows):
    return [(_run(path), threshold) for path, threshold in zip(rows.texts("result"), rows.numbers("threshold"))]


def _subject(rows):
    """The folder of the run."""
    run = _run(rows.text("result"))
    return "this run" if run in ("", ".") else words.clipped(run)


def _heads(rows):
    """The rows of a head; others only say that a layer was not observed."""
    return np.isfinite(rows.numbers("head"))


def _is_short(rows):
    """One step is no course."""
    return not rows.has_several("step")


# ---- The largest of all heads, by step ----

def sizes(rows):
    """The larger modulus of each row's logits; NaN where none was seen. Infinite where a logit is not a number."""
    most, least = rows.numbers("largest_logit"), rows.numbers("smallest_logit")
    found = np.fmax(np.abs(most), np.abs(least))
    return np.where(rows.is_infinite("largest_logit") | rows.is_infinite("smallest_logit"), np.inf, found)


def bounds(rows):
    """The proved bounds; infinite where one is written that is not finite."""
    return np.where(rows.is_infinite("bound"), np.inf, rows.numbers("bound"))


def largest(rows, values):
    """(steps, positions in `rows` of the largest value of each): of the steps that have a value."""
    kept = np.flatnonzero(~np.isnan(values))
    order = kept[np.lexsort((values[kept], rows.numbers("step")[kept]))]
    steps = rows.numbers("step")[order]
    last = np.flatnonzero(np.r_[steps[1:] != steps[:-1], True]) if len(steps) else np.zeros(0, int)
    return steps[last], order[last]


def _place(rows, i):
    """"layer 1 head 3"."""
    return f"layer {words.number(rows.number('layer', i))} head {words.number(rows.number('head', i))}"


def _prepare(drawing):
    """Two lines in place of the heads': the largest bound, and the largest logit."""
    rows, (panel,) = drawing.rows, drawing.panels
    panel.series, panel.rules = [], [Line("threshold", rows.number("threshold"), colour="fails")]
    for name, values, colour in ((PROVED, bounds(rows), "certified"), (SEEN, sizes(rows), 0)):
        steps, at = largest(rows, values)
        if not len(at):
            continue
        shown = np.where(np.isfinite(values[at]), values[at], np.nan)
        hover = [f"{name}: {words.upper(values[i]) if name == PROVED else words.exact(values[i])}\n{_place(rows, i)}\nstep "
                 f"{words.number(step)}" for step, i in zip(steps, at)]
        heads = [f"{rows.number('layer', i):.0f}.{rows.number('head', i):.0f}" for i in at]
        add_series(drawing, panel, rows.pick(at), name, steps, shown, colour=colour, hover=hover, head=heads)


# ---- Sentences ----

class _Course:
    """The largest value of all heads at each step, and where it passes the threshold first."""

    def __init__(self, rows, values):
        self.rows, self.threshold = rows, rows.number("threshold")
        self.steps, self.at = largest(rows, values)
        self.values = values[self.at]
        above = np.flatnonzero(self.values > self.threshold)
        self.first = above[0] if len(above) else None

    def __bool__(self):
        return len(self.at) > 0

    def place(self, i):
        return _place(self.rows, self.at[i])

    def at_first(self):
        """"at step 120"."""
        return f"at step {words.number(self.steps[self.first])}"

    def room(self, i):
        return self.threshold / self.values[i] if self.values[i] else np.inf


def _say_passed(proved, seen, limit):
    """What passed the limit, and how long before the proof was lost."""
    what = f"exceeded {limit}" if np.isfinite(seen.values[seen.first]) else "had logits that are not finite"
    text = f"{words.capital(seen.place(seen.first))} {what} {seen.at_first()}"
    ahead = seen.steps[seen.first] - proved.steps[proved.first] if proved and proved.first is not None else -1
    if ahead > 0:
        return f"{text}. The weights stopped excluding it {proved.at_first()}, {words.count(ahead, 'step', 'steps')} before."
    return f"{text}. The weights stopped excluding it at the same step." if ahead == 0 else f"{text}."


def _say_verdict(proved, seen, lacking):
    """Whether a head comes near the limit, and when."""
    limit = f"the threshold of {words.number((proved or seen).threshold)}"
    if seen and seen.first is not None:
        return _say_passed(proved, seen, limit)
    if not proved:
        return f"No head exceeded {limit} at an observed step. Nothing is proved."
    if proved.first is None:
        head = "a head that has a bound" if lacking else "a head"
        return f"With the weights of the observed steps no input takes {head} beyond {limit}."
    return (f"No head exceeded {limit} at an observed step, but the weights stopped excluding it {proved.at_first()} "
            f"({proved.place(proved.first)}).")


def _say_size(course, name, lost, size, room):
    """"proved at most 546 (layer 1 head 3, step 300), a headroom of 120": the largest of all steps."""
    i = int(np.argmax(course.values))
    where = f"({course.place(i)}, step {words.number(course.steps[i])})"
    if not np.isfinite(course.values[i]):
        return f"{lost} {where}"
    return f"{name} {size(course.values[i])} {where}, a headroom of {room(course.room(i))}"


def _say_sizes(proved, seen):
    parts = [_say_size(proved, "proved at most", "not bounded", _upper, _lower)] if proved else []
    parts += [_say_size(seen, "seen", "not finite", words.number, words.number)] if seen else []
    return f"Largest modulus of a logit: {'; '.join(parts)}."


def _upper(value):
    return words.upper(value, 4)


def _lower(value):
    return words.lower(value, 4)


def _say_fall(proved):
    """" The proved headroom was 1840 at step 0 and 120 at step 300.": at the first and the last step."""
    if len(proved.steps) < 2:
        return ""
    first, last = (f"{_lower(proved.room(i))} at step {words.number(proved.steps[i])}" for i in (0, -1))
    return f" The proved headroom was {first} and {last}."


def _lacking(rows):
    """The heads, as Rows, and of those that have no bound at some step the rows without it."""
    heads = rows.split("layer", "head")
    without = [head.pick(np.isnan(bounds(head))) for head in heads]
    return heads, [one for one in without if len(one)]


def _say_lacking(heads, lacking):
    """" 2 of 8 heads have no bound at some step (...)."""
    if not lacking:
        return ""
    why = re.sub(r"^no bound: ", "", lacking[0].text("bound_of") or "")
    has = "has" if len(lacking) == 1 else "have"
    return (f" {len(lacking)} of {words.count(len(heads), 'head', 'heads')} {has} no bound at some step"
            f"{f' ({words.clipped(why, 160)})' if why else ''}.")


def _say_assumed(rows):
    """" The proof assumes that ...": what the bounds' own texts name."""
    found = re.search(r"assumed: (LayerNorm subtracts the exact mean)", " ".join(rows.texts("bound_of").astype(str)))
    return f" The proof assumes that {found[1]}." if found else ""


def _say(drawing, whole):
    rows = drawing.rows
    proved, seen = _Course(rows, bounds(rows)), _Course(rows, sizes(rows))
    heads, lacking = _lacking(rows)
    text = f"{_say_verdict(proved, seen, lacking)} {_say_sizes(proved, seen)}"
    text += _say_assumed(rows)
    return f"{text}{_say_fall(proved)}{_say_lacking(heads, lacking)}" if whole else text


def _say_caption(drawing):
    return _say(drawing, True)


def _say_finding(drawing):
    return f"{words.capital(_subject(drawing.rows))}: {words.uncapital(_say(drawing, False))}"


def _say_course(drawing):
    """"At the last step from 0.02 (layer 1 head 3) to 2.1 (layer 0 head 0)": of the heads."""
    ends = [one for one in drawing.every() if np.isfinite(one.last())]
    if not ends:
        return "Nothing finite to draw."
    least, most = (choose(ends, key=lambda one: one.last()) for choose in (min, max))
    said = [f"{words.number(one.last())} ({_place(one.rows, 0)})" for one in ((least,) if least is most else (least, most))]
    return f"At the last observed step: {' to '.join(said)}{outlier_heads(drawing)}."


def _say_map(drawing):
    """The least headroom, which is a proof, rounded down."""
    rows = drawing.rows.known("headroom")
    values = rows.numbers("headroom")
    i = int(np.argmin(values))
    below = int((values < 1).sum())
    return (f"Least headroom: {_lower(values[i])} in {_place(rows, i)}, at step {words.number(rows.number('step', i))}. "
            f"Below 1 in {below} of {words.count(len(rows.split('layer', 'head')), 'head', 'heads')}.")


# ---- Records ----

STEPS = Axis("step", label="training step")
BY_RUN = dict(tables=(TABLE,), figure_key=_run_keys, group_by=("result",), subject=_subject)
HEADROOM = Figure("monitor-headroom", **BY_RUN, keeps=_heads, needs=("step", "threshold"), x=STEPS,
                  y=Axis("largest_logit", label="modulus of a logit", scale=LOG), title="largest logit of all heads",
                  prepare=_prepare, caption=_say_caption, finding=_say_finding)


def _course(name, column, title, y):
    return Figure(f"monitor-{name}", **BY_RUN, keeps=_heads, skips=_is_short, needs=(column, "step"), panel_by=("layer",),
                  series_by=("head",), outliers=True, by_last=True, values=MEANS, x=STEPS, y=y, title=title,
                  caption=_say_course)


MAP = Figure("monitor-map", **BY_RUN, keeps=_heads, last="step", needs=("headroom",), marks=CELLS, x=Axis("head"),
             y=Axis("layer"), value="headroom", colours=LOG, title="proved headroom at the last step: threshold over bound",
             caption=_say_map)
COURSES = {
    "bound": _course("bound", "bound", "proved bound of the logits", Axis("bound", scale=LOG)),
    "largest_logit": _course("largest", "largest_logit", "largest logit", Axis("largest_logit", scale=CHOSEN)),
    "entropy_min": _course("entropy-min", "entropy_min", "least entropy of a query's attention weights", Axis("entropy_min")),
    "entropy_mean": _course("entropy", "entropy_mean", "mean entropy of the attention weights", Axis("entropy_mean")),
    "first_share": _course("first", "first_share", "attention weight of the first token", Axis("first_share", lo=0, hi=1)),
    "sink_share": _course("sinks", "sink_share", "attention weight of the first four tokens", Axis("sink_share", lo=0, hi=1)),
    "learned_share": _course("learned", "learned_share", "attention weight of the learned sink",
                             Axis("learned_share", lo=0, hi=1)),
    "q_norm_max": _course("queries", "q_norm_max", "largest norm of a query", Axis("q_norm_max", scale=CHOSEN)),
    "k_norm_max": _course("keys", "k_norm_max", "largest norm of a key", Axis("k_norm_max", scale=CHOSEN)),
    "lag_share": _course("lag", "lag_share", "share of the logits' variance that the lag explains",
                         Axis("lag_share", lo=0, hi=1)),
    "stable_rank": _course("rank", "stable_rank", "stable rank of the logits", Axis("stable_rank"))}
RECORDS = {"headroom": (HEADROOM,), "map": (MAP,), **{name: (one,) for name, one in COURSES.items()}}

SECTION = Section(
    "monitor", "Attention while a model trains", (TABLE,),
    "The bound holds for every input: with the weights of its step no logit is larger in modulus. The largest logit is that "
    "of the tokens that were observed. The threshold divided by the bound is the proved headroom, and divided by the largest "
    "logit the headroom seen. The largest logit over all inputs lies between the two lines. They say nothing about steps that "
    "were not observed.",
    (HEADROOM, MAP, *COURSES.values()), most=16)
