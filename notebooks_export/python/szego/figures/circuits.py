"""Circuits of heads beside random ones."""
import numpy as np

from . import words
from .record import POINTS, Axis, Figure, Section

BY_CIRCUIT = ("result", "source", "circuit")
NAMES = {"ov": "OV"}


def _has_head(rows):
    return np.isfinite(rows.numbers("head"))


def _circuit(rows):
    """"model, QK"."""
    circuit = rows.text("circuit")
    return words.model(rows) + (f", {NAMES.get(circuit, 'QK')}" if circuit else "")


def _series_name(rows):
    lag = rows.number("lag")
    return "all lags" if np.isnan(lag) else f"lag {words.number(lag)}"


def _chance(draws):
    """How often one more random circuit is outside the interval from 2.5% to 97.5% of so many: by their ranks, since
    a quantile interpolates between two of them."""
    return 2 * (0.025 * (draws - 1) + 1) / (draws + 1)


def _outside(rows, column):
    """(how many are outside their interval, how many have one, how many chance puts outside)."""
    value, lo, hi = (rows.numbers(column + end) for end in ("", "_q025", "_q975"))
    known = np.isfinite(value) & np.isfinite(lo) & np.isfinite(hi)
    draws = rows.numbers("draws")[known]
    return int(((value < lo) | (value > hi))[known].sum()), int(known.sum()), float(np.sum(_chance(draws)))


def _finding_of(column, title):
    def say(drawing):
        """"model: stable ranks outside ...: QK 3 of 12, OV 1 of 8; chance alone would put about 1 there."""
        mine, parts, chance = drawing.rows, [], 0.0
        every = mine.every().where("source", mine.text("source")).where("result", mine.text("result"))
        for part in every.pick(_has_head(every)).split("circuit"):
            outside, total, expected = _outside(part, column)
            if total:
                parts.append(f"{NAMES.get(part.text('circuit'), 'QK')} {outside} of {total}")
                chance += expected
        if not parts:
            return []
        about = f"; chance alone would put about {chance:.2g} there" if np.isfinite(chance) else ""
        return (f"{words.model(mine)}: {title}s outside the interval that holds 95% of random circuits: "
                f"{', '.join(parts)}{about}.")
    return say


def _figure(name, column, title, undone=None):
    return Figure(f"circuits-{name}", ("checkpoint_circuits",), needs=("head", column), undone=undone, keeps=_has_head,
                  figure_by=BY_CIRCUIT, group_by=BY_CIRCUIT, panel_by=("layer",), series_by=("lag",),
                  series_name=_series_name, marks=POINTS, x=Axis("head"), y=Axis(column), lo=f"{column}_q025",
                  hi=f"{column}_q975", hover=(f"{column}_q025", f"{column}_median", f"{column}_q975"),
                  subject=_circuit, title=f"{title} by head",
                  remark="Intervals hold 95% of the random circuits.", finding=_finding_of(column, title))


SECTION = Section(
    "circuits", "Circuits beside random ones", ("checkpoint_circuits",),
    "QK says which tokens attend to which, OV what they then write. The intervals are those of random weights with the "
    "same shapes, norms and gains: a point inside tells nothing apart from them.",
    (_figure("stable", "stable_rank", "stable rank", "circuits are not drawn"),
     _figure("largest", "sigma_max", "largest singular value")))
