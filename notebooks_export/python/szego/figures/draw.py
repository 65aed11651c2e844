"""Drawings with Matplotlib: a panel is an Axes, and a figure has one legend."""
import math
import textwrap
from dataclasses import dataclass, field
from typing import List, Optional

import matplotlib
import matplotlib.colors
import matplotlib.lines
import matplotlib.mlab
import matplotlib.patches
import matplotlib.ticker
import numpy as np

from . import colours, thin, words
from .drawing import ENTRIES, LARGEST, bounded, is_named_within, places, rules
from .drawing import legend as entries_of

#: Inches. At 96 pixels an inch two figures stand side by side in a page of 1280, and text has at least 11.
WIDTH, HEIGHT, PANEL_WIDTH, PANEL_HEIGHT, ACROSS = 4.35, 2.5, 2.17, 1.65, 4
TEXT, SMALL = 9.0, 8.4  # points: 12 and 11.2 pixels
STYLE = {"font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"], "font.size": TEXT,
         "axes.titlesize": TEXT, "axes.labelsize": TEXT, "xtick.labelsize": SMALL, "ytick.labelsize": SMALL,
         "legend.fontsize": SMALL, "axes.edgecolor": colours.NAMED["edge"], "axes.labelcolor": colours.NAMED["ink"],
         "text.color": colours.NAMED["ink"], "axes.titlecolor": colours.NAMED["ink"],
         "xtick.color": colours.NAMED["quiet"], "ytick.color": colours.NAMED["quiet"], "axes.grid": True,
         "grid.color": colours.NAMED["grid"], "grid.linewidth": 0.8, "axes.axisbelow": True, "axes.linewidth": 0.8,
         "axes.facecolor": "none", "figure.facecolor": "none", "savefig.facecolor": "none", "svg.fonttype": "none",
         "legend.frameon": False, "axes.spines.top": False, "axes.spines.right": False,
         "axes.formatter.useoffset": False, "lines.solid_capstyle": "round"}
SEQUENTIAL, DIVERGING = "viridis", "RdBu_r"  # of cells; two hues meet in the middle
GREY_CELL = "#a3a7ad"  # of cells that say nothing, on light and dark pages
ON_LIGHT, ON_DARK = "#010101", "#fefefe"  # letters in cells: no colours by name, which a dark page changes
CLOUD, CROWD, POINTS_IN_LINE, COLUMNS = 1000, 100, 40, 560
VIOLIN_VALUES, LEAST_VIOLIN, NAMED_CELLS, CELLS = 300, 10, 160, 4000
#: Characters of the numbers in a row of cells that do not touch each other.
CELL_CHARACTERS = 48


@dataclass
class Marks:
    """Where the marks of a series are: x, y of each in the units of the axes; index: which points of the series;
    boxes: [marks, 4] of x0, y0, x1, y1 where they are rectangles."""
    series: object
    x: np.ndarray
    y: np.ndarray
    index: np.ndarray
    boxes: Optional[np.ndarray] = None
    artists: list = field(default_factory=list)


@dataclass
class Drawn:
    """What `draw` made: axes, one a panel; marks, a list of Marks a panel. given, drawn: how many points there are and
    how many are drawn where a figure has fewer pixels."""
    figure: object
    axes: list
    marks: List[List[Marks]]
    given: int = 0
    drawn: int = 0


def plain(text, characters=120):
    """A text that Matplotlib sets as it is: nothing in it is mathematics or a line break."""
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words.clipped(text, characters))
    return text.replace("$", r"\$")


@np.errstate(all="ignore")
def draw(drawing, axes=None, figure=None, legend=True):
    """Draws into `axes` (one a panel), or into a new figure.

    figure: a function that makes it (matplotlib.pyplot.figure is the default). legend: False leaves out the legend
    and the figure's title, for whoever writes them. The answer is a Drawn.
    """
    own = axes is None
    with matplotlib.rc_context(STYLE):
        if own:
            shape = _shape(drawing)
            target = (figure or _pyplot())(figsize=_size(drawing, shape, legend), layout="constrained")
            axes = _subplots(target, drawing, shape)
        else:
            target = axes[0].figure
        drawn = Drawn(target, list(axes), [])
        for panel, axis in zip(drawing.panels, axes):
            drawn.marks.append(_draw_panel(drawing, panel, axis, drawn, legend))
        _bracket(drawing, drawn)
        if own:
            _keep_outer_labels(axes, shape, drawing.free_y)
        if legend:
            _legend(drawing, drawn, own)
        return drawn


def _pyplot():
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
    return pyplot.figure


# ---- Sizes ----

def _title_lines(drawing, inches):
    """The title above a single panel, in lines of that width."""
    return textwrap.wrap(plain(drawing.title), int(12.5 * inches))


def _shape(drawing):
    count = len(drawing.panels)
    across = min(count, ACROSS)
    return -(-count // across), across


def _size(drawing, shape, titled):
    down, across = shape
    if down * across > 1:
        return across * PANEL_WIDTH, down * PANEL_HEIGHT + 0.2
    height = drawing.height or HEIGHT
    if not drawing.height and drawing.cells:
        rows = len(drawing.cells.row_keys)
        height = max(1.1 + 0.2 * rows, 1.6) if rows < 10 else 3.7
    elif not drawing.height and drawing.y.names is not None:
        height = max(1.0 + 0.23 * len(drawing.y.names), 1.6)  # room for the label of the axis
    width = drawing.width or WIDTH
    lines = len(_title_lines(drawing, width)) if titled and drawing.title else 1
    return width, height + 0.18 * (lines - 1)


def _subplots(figure, drawing, shape):
    grid = figure.add_gridspec(*shape)
    first = None
    axes = []
    for i in range(len(drawing.panels)):
        axis = figure.add_subplot(grid[i // shape[1], i % shape[1]], sharex=first, sharey=None if drawing.free_y else first)
        first = first or axis
        axes.append(axis)
    return axes


def _keep_outer_labels(axes, shape, free_y):
    """Panels share their axes: what the neighbour says is not said again."""
    for i, axis in enumerate(axes):
        if i % shape[1]:
            axis.tick_params(labelleft=free_y)
            axis.set_ylabel("")
        if i + shape[1] < len(axes):
            axis.tick_params(labelbottom=False)
            axis.set_xlabel("")


# ---- Axes ----

def _inches(drawing, axis, which):
    """How long a label of the axis may be: as long as the panel, but for what stands beside."""
    place = axis.get_subplotspec()
    down, across = place.get_gridspec().get_geometry() if place else (1, 1)
    width, height = axis.figure.get_size_inches()
    if which == "y":
        return height / down - 0.6
    return width / across - 0.3 - 0.068 * max(map(len, drawing.y.names or [""]))


def _filled(label, inches):
    """A label in lines of that length."""
    return textwrap.fill(plain(label or ""), max(8, min(34, int(13.4 * inches))), break_long_words=False)


def _scale_axis(axis, scale, which, inches):
    set_scale, set_lim = getattr(axis, f"set_{which}scale"), getattr(axis, f"set_{which}lim")
    getattr(axis, f"set_{which}label")(_filled(scale.label, inches))
    of = getattr(axis, f"{which}axis")
    if scale.names is not None:
        _name_places(axis, scale, which)
        return
    if scale.kind == "symlog":
        set_scale("symlog", linthresh=scale.linear)
    elif scale.kind == "log":
        set_scale("log")
        of.set_minor_formatter(matplotlib.ticker.NullFormatter())
    if scale.lo is not None and scale.hi is not None and scale.lo < scale.hi:
        set_lim(scale.lo, scale.hi)


def _name_places(axis, scale, which):
    count = len(scale.names)
    step = max(1, -(-count // (28 if which == "x" else 60)))
    at = range(0, count, step) if scale.ticks is None else scale.ticks
    shown = [plain(name) for name in words.apart([(scale.ticks or scale.names)[i] for i in at], 40)]
    turned = which == "x" and sum(map(len, shown)) > 75
    options = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if turned else {}
    getattr(axis, f"set_{which}ticks")(list(at), shown, **options)
    getattr(axis, f"set_{which}lim")(-0.5, max(count, 1) - 0.5)
    getattr(axis, f"{which}axis").grid(False)
    if which == "y":
        axis.invert_yaxis()


def _has_whole_x(drawing):
    """x counts something: its ticks are whole numbers."""
    column = drawing.x_column
    if drawing.x.lo is not None or (column and not drawing.rows.source.is_whole(column)):
        return False
    return _whole(np.concatenate([one.x for one in drawing.series()]))


def _has_places(drawing):
    """x names or counts something; a real number that happens to be whole is not moved."""
    return drawing.x.names is not None or not drawing.x_column or drawing.rows.source.is_whole(drawing.x_column)


def _whole(values):
    values = values[np.isfinite(values)]
    return len(values) > 0 and (values == np.rint(values)).all() and np.ptp(values) < 1e6


def _bracket(drawing, drawn):
    """Ticks at both sides of the data of all panels, and at whole numbers where x has only such."""
    every = [axis for axis, panel in zip(drawn.axes, drawing.panels) if panel.cells is None]
    apart = [("y", drawing.y, [axis]) for axis in every] if drawing.free_y else [("y", drawing.y, every)]
    for which, scale, axes in [("x", drawing.x, every)] + apart:
        if scale.names is not None or not axes:
            continue
        values = np.concatenate([getattr(axis.dataLim, f"interval{which}") for axis in axes])
        values = values[np.isfinite(values) & (np.abs(values) < LARGEST)]
        if len(values) and scale.kind == "linear":
            whole = which == "x" and _has_whole_x(drawing)
            _bracket_linear(axes, which, scale, values.min(), values.max(), whole)
        elif len(values) and scale.kind == "log":
            _bracket_log(axes, which, values)
        elif len(values) and scale.kind == "symlog":
            across = axes[0].get_position().width * axes[0].figure.get_figwidth()
            most = max(1, min(3, int(across * (1 if values.min() < 0 else 1.6))))  # of a side
            ticks = _symlog_ticks(scale.linear, values, most if which == "x" else 4)
            for axis in axes:
                getattr(axis, f"{which}axis").set_major_locator(matplotlib.ticker.FixedLocator(ticks))
                if which == "x" and _has_whole_x(drawing):
                    axis.xaxis.set_major_formatter(lambda value, _: words.number(value))


def _bracket_linear(axes, which, scale, lo, hi, whole):
    narrow = axes[0].get_position().width * axes[0].figure.get_figwidth() < 2.0
    locator = matplotlib.ticker.MaxNLocator(nbins=4 if which == "x" and narrow else 5, integer=whole,
                                            steps=[1, 2, 2.5, 5, 10], min_n_ticks=2)
    if scale.lo is not None:
        for axis in axes:
            getattr(axis, f"{which}axis").set_major_locator(locator)
        return
    least, greatest = (np.rint(lo), np.rint(hi)) if whole else (lo, hi)  # marks beside a whole number are its own
    ticks = locator.tick_values(least, greatest) if greatest > least else locator.tick_values(lo - 0.5, lo + 0.5)
    reach = 1e-12 * (greatest - least)
    first, last = ticks[ticks <= least + reach], ticks[ticks >= greatest - reach]
    first, last = (first[-1] if len(first) else lo), (last[0] if len(last) else hi)
    room = 0.02 * (last - first) or 0.5
    for axis in axes:  # the locator would take the room for further data
        getattr(axis, f"{which}axis").set_major_locator(matplotlib.ticker.FixedLocator(
            ticks[(ticks >= first - reach) & (ticks <= last + reach)]))
        getattr(axis, f"set_{which}lim")(min(first, lo) - room, max(last, hi) + room)


def _bracket_log(axes, which, values):
    """Between two powers of ten, 1, 2 and 5 have ticks as well."""
    values = values[values > 0]
    if not len(values) or np.log10(values.max()) - np.log10(values.min()) > 1.5:
        return
    for axis in axes:
        of = getattr(axis, f"{which}axis")
        of.set_major_locator(matplotlib.ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
        of.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: words.number(value)))
    room = 1.15
    decades = np.array([b * 10.0**e for e in range(-300, 300) for b in (1, 2, 5)])
    lo, hi = decades[decades <= values.min()], decades[decades >= values.max()]
    if len(lo) and len(hi):
        for axis in axes:
            getattr(axis, f"set_{which}lim")(lo[-1] / room, hi[0] * room)


def _symlog_ticks(linear, values, most):
    """0, and powers of ten to either side: at most so many a side, none near 0 where some are left out."""
    sizes = np.abs(values[np.isfinite(values)])
    if not sizes.max(initial=0) > linear:
        return [-linear, 0, linear]
    first, last = math.ceil(math.log10(linear)), math.floor(math.log10(sizes.max()))
    last = max(first, last)
    step = max(1, -(-(last - first) // most))
    powers = [10.0**e for e in range(last, first - 1, -step) if step == 1 or e - first >= 0.6 * step]
    return [-value for value in powers] + [0.0] + powers[::-1]


# ---- Marks ----

def marker(one):
    """The marker of a series' points; "": they have none. The legend shows the same."""
    if one.marks == "line":
        few = np.isfinite(one.y).sum() <= POINTS_IN_LINE and not (one.thin or one.fine) and one.colour != "muted"
        return colours.marker(one.colour) if few else ""
    return {"points": colours.marker(one.colour), "violins": "o"}.get(one.marks, "")


def _style(one):
    width = 1.0 if one.thin or one.fine or one.colour == "muted" else 1.8
    return {"color": colours.of(one.colour), "linewidth": width, "linestyle": dash(one)}


def dash(one):
    """The pattern of a series' line."""
    return (0, (1, 1.5)) if one.thin else "-" if one.fine else colours.dash(one.colour)


def _line_marks(drawing, panel, one, axis, drawn):
    x, y = places(drawing, one)
    lo = y if one.lo is None or one.flat else np.fmin(bounded(one.lo), y)
    hi = y if one.hi is None or one.flat else np.fmax(bounded(one.hi), y)
    kept = thin.line(x, lo, hi, COLUMNS)
    style = _style(one)
    finite = np.isfinite(x) & np.isfinite(y)
    drawn.given += int(finite.sum())
    drawn.drawn += int(finite[kept].sum())
    artists = []
    if one.area and one.lo is not None and one.hi is not None:
        artists.append(axis.fill_between(x[kept], bounded(one.lo)[kept], bounded(one.hi)[kept],
                                         color=style["color"], alpha=0.2, linewidth=0))
    artists += axis.plot(x[kept], y[kept], marker=marker(one), markersize=4,
                         markeredgecolor=colours.NAMED["page"], markeredgewidth=0.5, **style)
    if not one.area and one.lo is not None:
        artists += _whiskers(one, axis, x, y)
    return Marks(one, x[kept], y[kept], kept, artists=artists)


def _whiskers(one, axis, x, y):
    lo, hi = bounded(one.lo), bounded(one.hi)
    known = np.isfinite(lo) & np.isfinite(hi) & np.isfinite(x) & np.isfinite(y)
    if not known.any():
        return []
    draw_lines = axis.hlines if one.flat else axis.vlines
    return [draw_lines((y if one.flat else x)[known], lo[known], hi[known], color=colours.of(one.colour), linewidth=1)]


def _point_marks(drawing, panel, one, axis, drawn):
    x, y = places(drawing, one)
    whiskers = any(other.lo is not None and other.marks == one.marks for other in panel.series)
    if whiskers and not one.flat and drawing.x.kind == "linear" and _has_places(drawing) and _whole(x):
        x = x + _beside(panel, one)[0] / 2  # series at one place stand side by side
    kept = thin.cloud(x, y, CLOUD)
    drawn.given += int((np.isfinite(x) & np.isfinite(y)).sum())
    drawn.drawn += len(kept)
    artists = _whiskers(one, axis, x, y) if one.lo is not None else []
    few = len(kept) < CROWD  # the edges of more would cover their neighbours
    artists += axis.plot(x[kept], y[kept], linestyle="", marker=marker(one), color=colours.of(one.colour),
                         markersize=5 if few else 3.5, markeredgecolor=colours.NAMED["page"],
                         markeredgewidth=0.4 if few else 0)
    return Marks(one, x[kept], y[kept], kept, artists=artists)


def _beside(panel, one):
    """(shift, width) of one of several series that share places."""
    alike = [other for other in panel.series if other.marks == one.marks]
    width = 0.8 / len(alike)
    return ([other is one for other in alike].index(True) - (len(alike) - 1) / 2) * width, width


def _bar_marks(drawing, panel, one, axis, drawn):
    shift, width = _beside(panel, one)
    x, y = places(drawing, one)
    x = x + shift
    kept = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    colour = colours.of(one.colour)
    artists = [axis.bar(x[kept], y[kept], 0.9 * width, color=colour, alpha=0.78)]
    if one.lo is not None:
        artists += _whiskers(one, axis, x, y)
    drawn.given += len(kept)
    drawn.drawn += len(kept)
    half = 0.45 * width
    boxes = np.stack([x[kept] - half, np.minimum(y[kept], 0), x[kept] + half, np.maximum(y[kept], 0)], axis=1)
    return Marks(one, x[kept], y[kept], kept, boxes, artists)


def _range_marks(drawing, panel, one, axis, drawn):
    certified = one.colour == "certified"
    shift, width = _beside(panel, one)
    y, lo, hi = bounded(one.y) + shift, bounded(one.lo), bounded(one.hi)
    if drawing.x.kind == "log":
        lo, hi = np.where(lo > 0, lo, np.nan), np.where(hi > 0, hi, np.nan)
    kept = np.flatnonzero(np.isfinite(y) & np.isfinite(lo) & np.isfinite(hi))
    y, lo, hi = y[kept], lo[kept], hi[kept]
    drawn.given += len(kept)
    drawn.drawn += len(kept)
    colour = colours.of(one.colour)
    axis.use_sticky_edges = False  # the bar that begins first does not begin at the frame
    artists = [axis.barh(y, hi - lo, 0.9 * width, lo, color=colour, alpha=0.55 if certified else 0.85)]
    single = lo == hi
    if single.any():
        artists.append(axis.vlines(lo[single], y[single] - 0.45 * width, y[single] + 0.45 * width, color=colour,
                                   linewidth=2))
    half = 0.45 * width
    return Marks(one, (lo + hi) / 2, y, kept, np.stack([lo, y - half, hi, y + half], axis=1), artists)


def _violin_marks(drawing, panel, one, axis, drawn):
    shift, width = _beside(panel, one)
    x, y = places(drawing, one)
    at_places, shown = [], []
    for place in np.unique(x[np.isfinite(x)]):
        index = np.flatnonzero((x == place) & np.isfinite(y))
        if not len(index):
            continue
        index = index[np.argsort(y[index], kind="stable")]
        kept = index[np.unique(np.linspace(0, len(index) - 1, min(len(index), VIOLIN_VALUES)).astype(int))]
        drawn.given += len(index)
        drawn.drawn += len(kept)
        at_places.append(place + shift + width / 2 * _violin(axis, one, place + shift, width, y[index], y[kept],
                                                          drawing.y.kind == "log"))
        shown.append(kept)
    kept = np.concatenate(shown) if shown else np.zeros(0, int)
    at = np.concatenate(at_places) if at_places else np.zeros(0)
    artists = axis.plot(at, y[kept], linestyle="", marker=marker(one), markersize=3, color=colours.of(one.colour),
                        markeredgewidth=0)
    for i in np.flatnonzero(np.isin(kept, list(one.named))):
        artists.append(axis.annotate(plain(one.named[int(kept[i])], 30), (at[i], y[kept[i]]), (4, 0),
                                     textcoords="offset points", va="center", fontsize=SMALL))
    return Marks(one, at, y[kept], kept, artists=artists)


def _violin(axis, one, place, width, values, shown, log):
    """Draws the outline; the shifts of the shown values, -1 to 1, within it."""
    turns = np.arange(len(shown)) * 0.6180339887498949  # multiples of the golden section spread evenly
    jitter = 2 * (turns - np.floor(turns)) - 1
    bent = np.log10(values) if log else values
    colour = colours.of(one.colour)
    if len(values) < LEAST_VIOLIN or not np.ptp(bent) > 1e-9 * max(np.abs(bent).max(), 1e-300):
        return 0.5 * jitter
    density = matplotlib.mlab.GaussianKDE(bent, "silverman")
    at = np.linspace(bent.min(), bent.max(), 64)
    half = density(at)
    half = half / half.max()
    heights = 10**at if log else at
    axis.fill_betweenx(heights, place - half * width / 2, place + half * width / 2, color=colour, alpha=0.25,
                       linewidth=0.8)
    median = np.median(values)
    reach = width / 2 * np.interp(np.log10(median) if log else median, at, half)
    axis.hlines(median, place - reach, place + reach, color=colours.NAMED["ink"], linewidth=1.5)
    return jitter * 0.9 * np.interp(np.log10(shown) if log else shown, at, half)


_MARKS = {"line": _line_marks, "points": _point_marks, "bars": _bar_marks, "ranges": _range_marks,
          "violins": _violin_marks}


# ---- Cells ----

def _norm(cells):
    finite = cells.value[np.isfinite(cells.value)]
    lo = cells.lo if cells.lo is not None else finite.min()
    hi = cells.hi if cells.hi is not None else finite.max()
    lo, hi = np.clip((lo, hi), -LARGEST, LARGEST)  # beyond it the width of the scale overflows
    if cells.log and lo > 1 / LARGEST**2:  # below it the scale is not invertible
        return matplotlib.colors.LogNorm(lo, hi if hi > lo else lo * (1 + 1e-6))
    return matplotlib.colors.Normalize(lo, hi if hi > lo else lo + max(abs(lo), 1.0) * 1e-6)


def _draw_cells(drawing, panel, axis, drawn):
    cells = panel.cells
    two_hues = cells.middle > 0 or cells.two_hues
    norm, palette = _norm(cells), matplotlib.colormaps[DIVERGING if two_hues else SEQUENTIAL]
    grey = np.zeros(cells.value.shape, bool) if cells.grey is None else cells.grey
    image = _cell_ink(axis, np.ma.array(cells.value, mask=~np.isfinite(cells.value) | grey), palette, norm,
                      cells.areas is not None)
    if grey.any():
        _cell_ink(axis, np.ma.array(np.zeros(grey.shape), mask=~grey), matplotlib.colors.ListedColormap([GREY_CELL]), None,
                  cells.areas is not None)
    rows, across = cells.value.shape
    axis.grid(False)
    finite = cells.value[np.isfinite(cells.value) & ~grey]
    beyond = [(finite < norm.vmin).any(), (finite > norm.vmax).any()]
    bar = axis.figure.colorbar(image, ax=axis, extend=("neither", "max", "min", "both")[2 * beyond[0] + beyond[1]])
    bar.set_label(_filled(cells.label, _inches(drawing, axis, "y")))
    bar.outline.set_linewidth(0)
    if len(set(cells.value[np.isfinite(cells.value)].tolist())) == 1:
        bar.set_ticks([norm.vmin], labels=[words.number(norm.vmin)])
        bar.ax.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    elif cells.log:
        lo, hi = np.log10(norm.vmin), np.log10(norm.vmax)
        powers = np.arange(math.ceil(lo), math.floor(hi) + 1, max(1, int(hi - lo) // 5))
        near = hi - lo < 3
        bar.set_ticks(np.geomspace(norm.vmin, norm.vmax, 5) if near else 10.0**powers)
        bar.ax.yaxis.set_major_formatter("{x:.3g}")
        bar.ax.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    if rows * across <= NAMED_CELLS and across <= 16 and rows <= 16:
        _write_cells(cells, axis, norm, palette)
    drawn.given += cells.filled
    drawn.drawn += cells.filled
    return [_cell_marks(cells)]


def _cell_ink(axis, values, palette, norm, small):
    rows, across = values.shape
    if rows * across <= CELLS and not small:
        return axis.pcolormesh(np.arange(across + 1) - 0.5, np.arange(rows + 1) - 0.5, values, cmap=palette, norm=norm,
                               linewidth=0)
    # "none": a pixel a cell, which whoever shows it makes larger.
    return axis.imshow(values, cmap=palette, norm=norm, aspect="auto", interpolation="none",
                       extent=(-0.5, across - 0.5, rows - 0.5, -0.5))


def _cell_text(value, digits, across):
    text = f"{value:.{digits}g}"
    if across > 9 and text.lstrip("-").startswith("0."):  # there is room for digits that say something
        text = text.replace("0.", ".", 1)
    return words.signed(text)


def _cell_digits(cells):
    """How many digits the cells of a map have room for; 0: none."""
    finite, across = cells.value[np.isfinite(cells.value)], cells.value.shape[1]
    alike = 2 * len({f"{value:.2g}" for value in finite}) <= len(set(finite.tolist()))
    longest = [max((len(_cell_text(value, digits, across)) for value in finite), default=0) for digits in (2, 3)]
    if alike and across <= 8 and longest[1] * across <= CELL_CHARACTERS - across:
        return 3
    return 2 if longest[0] * across <= CELL_CHARACTERS else 0


def _write_cells(cells, axis, norm, palette):
    digits = _cell_digits(cells)
    for i, j in zip(*np.nonzero(np.isfinite(cells.value) & (digits > 0))):
        is_grey = cells.grey is not None and cells.grey[i, j]
        r, g, b = matplotlib.colors.to_rgb(GREY_CELL if is_grey else palette(norm(cells.value[i, j])))
        light = 0.2126 * r**2.2 + 0.7152 * g**2.2 + 0.0722 * b**2.2 > 0.18
        axis.text(j, i, _cell_text(cells.value[i, j], digits, cells.value.shape[1]), ha="center", va="center", fontsize=SMALL,
                  color=ON_LIGHT if light else ON_DARK)


def _cell_marks(cells):
    if cells.areas is not None:
        boxes = np.array([(first - 0.5, row - 0.5, last + 0.5, row + 0.5) for row, first, last, _ in cells.areas])
        boxes = boxes.reshape(-1, 4)
        return Marks(cells, boxes[:, ::2].mean(axis=1), boxes[:, 1::2].mean(axis=1), np.arange(len(boxes)), boxes)
    i, j = np.indices(cells.value.shape)
    i, j = i.ravel().astype(float), j.ravel().astype(float)
    return Marks(cells, j, i, np.arange(len(i)), np.stack([j - 0.5, i - 0.5, j + 0.5, i + 0.5], axis=1))


# ---- Panels and the legend ----

def _draw_panel(drawing, panel, axis, drawn, legend):
    if len(drawing.panels) == 1 and drawing.title and legend:
        axis.set_title("\n".join(_title_lines(drawing, axis.figure.get_size_inches()[0])), loc="left")
    elif panel.name and len(drawing.panels) > 1:
        axis.set_title(textwrap.fill(plain(panel.name, 40), int(12.5 * PANEL_WIDTH)))
    for scale, which in ((drawing.x, "x"), (drawing.y, "y")):
        _scale_axis(axis, scale, which, _inches(drawing, axis, which))
    if panel.cells:
        return _draw_cells(drawing, panel, axis, drawn)
    marks = []
    for one in sorted(panel.series, key=lambda one: one.colour != "muted"):  # grey ones are below
        marks.append(_MARKS[one.marks](drawing, panel, one, axis, drawn))
    for rule in rules(drawing, panel):
        (axis.axvline if rule.vertical else axis.axhline)(rule.at, color=colours.of(rule.colour), linewidth=1.2,
                                                          linestyle=(0, (5, 3)), zorder=1.5)
    for scale, which in ((drawing.x, "x"), (drawing.y, "y")):
        if scale.names is not None:
            getattr(axis, f"set_{which}lim")(*((-0.5, max(len(scale.names), 1) - 0.5) if which == "x" else
                                               (max(len(scale.names), 1) - 0.5, -0.5)))
    named = [one for one in panel.series if is_named_within(drawing, one)]
    if named:
        axis.legend([_handle(one) for one in named], [_listed(one.name, 30) for one in named],
                    handlelength=1.2, borderaxespad=0.2, labelspacing=0.2, borderpad=0.2)
    return marks


def _handle(one):
    colour, kind = colours.of(one.colour), getattr(one, "marks", "rule")
    if kind == "rule":
        return matplotlib.lines.Line2D([], [], color=colour, linewidth=1.2, linestyle=(0, (5, 3)))
    if kind in ("bars", "ranges") or getattr(one, "is_band", False):
        return matplotlib.patches.Patch(color=colour, alpha=0.55 if one.colour == "certified" else 0.8)
    style = {"linestyle": ""} if kind in ("points", "violins") else _style(one)
    return matplotlib.lines.Line2D([], [], **{**style, "color": colour}, marker=marker(one), markersize=4,
                                   markeredgewidth=0)


def _listed(name, characters=120):
    """A legend leaves out what begins with an underscore."""
    text = plain(name, characters)
    return f" {text}" if text.startswith("_") else text


def _legend(drawing, drawn, own):
    """One legend, below all panels; inside the axes where they are the caller's."""
    entries = entries_of(drawing)[:ENTRIES]
    handles = [_handle(one) for _, one in entries]
    names = [_listed(name) for name in words.apart([label for label, _ in entries], 60)]
    if not own:
        if names:
            drawn.axes[0].legend(handles, names)
        return
    width, height = drawn.figure.get_size_inches()
    below = 0.0
    if names:
        longest = max(map(len, names)) * 0.072 + 0.5
        columns = max(1, min(len(names), int((width - 0.3) / longest)))
        below = 0.2 * -(-len(names) // columns) + 0.1
        drawn.figure.set_size_inches(width, height + below)
        drawn.figure.legend(handles, names, loc="lower center", ncol=columns, bbox_to_anchor=(0.5, 0.0),
                            borderaxespad=0.2, columnspacing=1.5, handlelength=2.2)
    drawn.figure.get_layout_engine().set(rect=(0, below / (height + below), 1, height / (height + below)))
