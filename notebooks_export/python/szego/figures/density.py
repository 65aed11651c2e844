"""How the eigenvalues of long kernels are spread: the density with its standard error and its resolution, and the
moments that it is made from."""
import numpy as np

from . import heads, words
from .compose import add_series
from .record import CHOSEN, POINTS, Axis, Figure, Section

#: Of the resolution, over one density.
BARS = 7


def _add_errors(drawing):
    """An area of one standard error to either side, where there is one; the figure's own is the greatest."""
    drawing.own = 0.0
    for one in drawing.series():
        error = one.rows.numbers("error")
        greatest = np.max(error[np.isfinite(error)], initial=0)
        drawing.own = max(drawing.own, float(greatest))
        if greatest > 0:
            one.lo, one.hi = one.y - error, one.y + error


def _cut_areas(drawing):
    """A density is not negative: where its error is larger, the area ends at the least value drawn, so that a
    logarithmic axis can show it."""
    for one in drawing.series():
        if one.lo is not None:
            least = np.min(one.y[one.y > 0], initial=np.inf)
            least = least if np.isfinite(least) else 0.0
            one.lo = np.where(one.lo > least, one.lo, np.fmin(least, one.y))


def _add_resolution(drawing):
    """Bars along lambda at a few points of the first density: the others of a matrix have almost the same interval."""
    panel = drawing.panels[0]
    line = panel.series[0]
    resolution = line.rows.numbers("resolution")
    count = min(len(line.x), BARS)
    at = (2 * np.arange(count) + 1) * len(line.x) // (2 * max(count, 1))
    at = at[np.isfinite(resolution[at])]
    if not len(at):
        return
    x, width = line.x[at], resolution[at]
    bars = add_series(drawing, panel, line.rows, "resolution", x, line.y[at], marks=POINTS, colour="unknown",
                      lo=x - width, hi=x + width)  # grey, but not below the lines
    if bars:
        bars.flat = True


def _prepare_density(drawing):
    _add_errors(drawing)
    _cut_areas(drawing)
    heads.name_series(drawing, drawing.panels[0], "density")
    if drawing.panels and drawing.panels[0].series:
        _add_resolution(drawing)


def _prepare_moments(drawing):
    """Heads that are multiples of each other have the same moments."""
    _add_errors(drawing)
    left_out, panel = heads.LeftOut(), drawing.panels[0]
    heads.leave_out_multiples(panel, left_out)
    heads.name_series(drawing, panel, "moments")
    drawing.own = drawing.own, left_out


def _say_error(greatest):
    if greatest > 0:
        return f"The standard error is at most {words.number(greatest)}."
    return "Moments are exact up to rounding: there is no standard error."


def _say_moments(drawing):
    return _say_error(drawing.own[0]) + heads.say_left_out(drawing.own[1])


def _say_density(drawing):
    resolution = any(one.name == "resolution" for one in drawing.series())
    bars = " A grey bar reaches one standard deviation of the kernel to either side of its point." if resolution else ""
    return _say_error(drawing.own) + bars


def _say_finding(drawing):
    """Between which values the middle half lies."""
    rows = drawing.series()[0].rows
    at, share = rows.numbers("lambda"), rows.numbers("cumulative")
    known = np.isfinite(at) & np.isfinite(share)
    at, share = at[known], share[known]
    if len(at) < 2 or not (np.diff(share) >= 0).all() or share[0] > 0.25 or share[-1] < 0.75:
        return []
    lo, hi = np.interp([0.25, 0.75], share, at)
    head = words.key(rows, ("head", "n"))
    return (f"{words.source_of_values(rows)}{', ' + head if head else ''}: the middle half of the eigenvalues lies between "
            f"{words.number(lo)} and {words.number(hi)}, up to the resolution of the density.")


BY_MATRIX = dict(figure_by=("result", "source", "matrix"), group_by=("result", "source"), series_by=("head", "n"),
                 outliers=True, subject=words.source_of_values, area=True)
DENSITY = Figure("density", ("spectrum_density",), **BY_MATRIX, needs=("lambda", "density", "error", "resolution"),
                 undone="the densities are not drawn", x=Axis("lambda"), y=Axis("density", scale=CHOSEN),
                 title="density of the eigenvalues", prepare=_prepare_density, caption=_say_density,
                 finding=_say_finding)
MOMENTS = Figure("moments", ("spectrum_moments",), **BY_MATRIX, needs=("index", "moment", "error"),
                 undone="the moments are not drawn", x=Axis("index", label="Chebyshev polynomial"), y=Axis("moment"),
                 title="Chebyshev moments", prepare=_prepare_moments, caption=_say_moments)

SECTION = Section(
    "density", "Spectral density", ("spectrum_density", "spectrum_moments"),
    "The density is the share of the eigenvalues per unit of their value, smoothed by Jackson's kernel. The area "
    "reaches one standard error to either side.", (DENSITY, MOMENTS))
