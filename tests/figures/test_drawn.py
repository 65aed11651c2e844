#!/usr/bin/python3
"""What is not drawn is told, what the legend shows is drawn, and every panel without one below has its labels."""
import itertools
import math
import re

import matplotlib.collections
import matplotlib.pyplot
from support import chance, compose, draw, drawings, np, rows, tables, tap

from szego.figures.record import BARS, CELLS, LINE, LOG, MEANS, POINTS, RANKED, VIOLINS, Axis, Column, Figure, Rule, Section
from szego.page import svg

CELLS_OF = [1.0, 2.5, 7.0, 0.0, -3.0, float("nan"), float("inf"), -float("inf"), 1e200, None]
COUNTS = {"infinite": r"(\d+) values? that (?:is|are) not finite", "beyond": r"(\d+) values? of 1e150",
          "log": r"(\d+) values? that (?:is|are) (?:0|not positive), as the axis is logarithmic",
          "placeless": r"(\d+) rows? without a place"}


def told(caption):
    """What a caption says is not drawn, by its reason."""
    found = {name: re.search(pattern, caption) for name, pattern in COUNTS.items()}
    return {name: int(match[1]) for name, match in found.items() if match}


def picture(one):
    made = draw.draw(one)
    matplotlib.pyplot.close("all")
    return made


def reason(x, y, log):
    """Why a point is not drawn; None: it is; "": there is no value."""
    for value in (x, y):
        if value is not None and not math.isfinite(value):
            return "infinite"
    if y is None:
        return ""
    if x is None:
        return "placeless"
    if max(abs(x), abs(y)) >= 1e150:
        return "beyond"
    return "log" if log and y <= 0 else None


# ---- Captions ----

def captions_count_what_is_lost():
    """By a loop over the rows, and by the marks: rows are drawn, empty, or counted."""
    wrong = []
    for scale, marks, trial in itertools.product(("linear", LOG), (LINE, POINTS, BARS), range(4)):
        log = scale == LOG
        pool = [cell for cell in CELLS_OF if not (log and cell == -3.0)]
        made = [{"x": chance.choice([1.0, 2.0, 3.0, None, float("inf")]), "y": chance.choice(pool)} for _ in range(30)]
        made += [{"x": 4.0, "y": 1.0}, {"x": 4.0, "y": 5.0}]
        one = compose.build(Figure("f", ("t",), marks=marks, x=Axis("x"), y=Axis("y", scale=scale)),
                            tables(t=made).rows("t"))
        found = [reason(row["x"], row["y"], one.y.kind == "log") for row in made]
        expected = {name: found.count(name) for name in set(found) - {None, ""}}
        if told(one.caption) != expected or picture(one).given != found.count(None) or (one.y.kind == "log") != log:
            wrong.append(f"{scale} {marks} {trial}: {expected} {one.caption} {picture(one).given}")
    tap.ok("every row is drawn, empty, or counted with its reason", not wrong, "\n".join(wrong[:4]))


def other_values_are_counted():
    """Means, ranked values and cells, of which not every row is a mark."""
    inf, nan = float("inf"), float("nan")
    made = [{"x": x, "g": g, "y": y} for x, g, y in ((1, 0, 1.0), (1, 0, inf), (2, 0, nan), (2, 1, 4.0), (3, 1, None),
                                                     (None, 1, 2.0), (4, 1, 3.0))]
    for name, more, count in (("means", {"values": MEANS, "x": Axis("x")}, {"infinite": 2, "placeless": 1}),
                              ("ranked values", {"values": RANKED}, {"infinite": 2})):
        one = compose.build(Figure("f", ("t",), y=Axis("y"), series_by=("g",), **more), tables(t=made).rows("t"))
        tap.ok(f"{name}: what is not finite is counted", told(one.caption) == count, one.caption)
    one = compose.build(Figure("f", ("t",), marks=CELLS, x=Axis("x"), y=Axis("g"), value="y"), tables(t=made).rows("t"))
    tap.ok("cells: values and keys", told(one.caption) == {"infinite": 2, "placeless": 1}, one.caption)
    one = compose.build(Figure("f", ("t",), x=Axis("x"), columns=(Column("y"), Column("g"))), tables(t=made).rows("t"))
    tap.ok("of two columns each counts its own", told(one.caption) == {"infinite": 1, "placeless": 2}, one.caption)


def names_without_a_place_are_counted():
    """An axis has 256 names; a point is lost where one of its two names has no place."""
    made = [{"x": f"n{i}", "y": f"m{i % 300}", "value": None if i == 1 else 1.0 * i} for i in range(310)]
    for x, y, count in (("x", "value", 54), ("value", "x", 54), ("x", "y", 54), ("y", "x", 54)):
        one = compose.build(Figure("f", ("t",), marks=POINTS, x=Axis(x), y=Axis(y)), tables(t=made).rows("t"))
        tap.ok(f"{y} over {x}", told(one.caption) == {"placeless": count}, one.caption)


def needed_values_are_counted():
    made = [{"x": 1.0, "y": 2.0}, {"x": 2.0, "y": float("inf")}, {"x": 3.0, "y": None}]
    figure = Figure("f", ("t",), known=("y",), x=Axis("x"), y=Axis("y"), title="all")
    one, = drawings(Section("s", "S", ("t",), figures=(figure,)), tables(t=made))
    tap.ok("rows without the number that a record needs", len(one.rows) == 1 and told(one.caption) == {"infinite": 1},
           one.caption)
    for needs in ((), ("y",)):
        blank = Figure("f", ("t",), known=needs, x=Axis("x"), y=Axis("y"), title="all")
        found = list(compose.section_blocks(Section("s", "S", ("t",), figures=(blank,)), tables(t=made[1:])))
        tap.ok(f"a figure without any finite number is named, known={needs}", [one.text for one in found] == [
            "Not drawn: all: 1 value that is not finite, and no other."], str(found))
        found = list(compose.section_blocks(Section("s", "S", ("t",), figures=(blank,)), tables(t=made[2:])))
        tap.ok("one of empty cells is not", found == [], str(found))


def arrays_have_no_masks():
    """In an npz file NaN may be an empty cell: it is none that was lost."""
    made = np.array([(1, 1.0), (2, np.nan), (3, np.inf)], [("x", "i8"), ("y", "f8")])
    one = compose.build(Figure("f", ("t",), x=Axis("x"), y=Axis("y")), rows.Tables({"t": made}).rows("t"))
    tap.ok("infinity is", told(one.caption) == {"infinite": 1}, one.caption)


def rules_are_counted():
    def add(drawing):
        drawing.panels[0].rules += [compose.Line("huge", 1e200), compose.Line("seen", 1.0)]
    one = compose.build(Figure("f", ("t",), x=Axis("x"), y=Axis("y"), prepare=add),
                        tables(t=[{"x": 1, "y": 1.0}, {"x": 2, "y": 2.0}]).rows("t"))
    tap.ok("a rule without a place is named", one.caption.endswith(" Not drawn: the rule huge."), one.caption)


# ---- The legend ----

def handles(made):
    legend = made.figure.legends[0]
    return dict(zip([text.get_text() for text in legend.get_texts()],
                    getattr(legend, "legend_handles", None) or legend.legendHandles))


def look(artist):
    """(marker, dashes) of a line; "area" of bars."""
    if not hasattr(artist, "get_marker"):
        return "area"
    return "" if artist.get_marker() in ("None", None) else artist.get_marker(), artist.get_linestyle()


def legends_show_what_is_drawn():
    wrong = []
    for marks, count, thin in [*itertools.product((LINE, POINTS, BARS, VIOLINS), (3, 60), (False,)), (LINE, 3, True)]:
        def prepare(drawing):
            for one in drawing.series():
                one.thin = thin  # pylint: disable=cell-var-from-loop # it is called in this turn
        made = [{"g": g, "x": float(x), "y": chance.random()} for g in "ab" for x in range(count)]
        one = compose.build(Figure("f", ("t",), marks=marks, series_by=("g",), x=Axis("x"), y=Axis("y"),
                                   prepare=prepare), tables(t=made).rows("t"))
        drawn = picture(one)
        for series in drawn.marks[0]:
            ink = [artist for artist in series.artists if not isinstance(artist, matplotlib.collections.Collection)]
            if look(handles(drawn)[series.series.name]) != look(ink[0]):
                wrong.append((marks, count, thin, look(handles(drawn)[series.series.name]), look(ink[0])))
    tap.ok("markers, dashes and areas", not wrong, str(wrong))


def names_stand_once():
    """A head that stands out is named in its panel: in another one its colour is another head's."""
    made = [{"layer": layer, "head": head, "x": x, "y": 50.0 + layer if head == layer else 1.0 + head / 100}
            for layer in range(2) for head in range(8) for x in range(3)]
    one = compose.build(Figure("f", ("t",), panel_by=("layer",), series_by=("head",), outliers=True, x=Axis("x"),
                               y=Axis("y")), tables(t=made).rows("t"))
    drawn = picture(one)
    within = [[text.get_text() for text in axis.get_legend().get_texts()] for axis in drawn.axes]
    tap.ok("in its panel and not below", within == [["head 0"], ["head 1"]] and list(handles(drawn)) == ["others"],
           f"{within} {list(handles(drawn))}")


def page_and_notebook_list_the_same():
    def entries(one):
        ink = svg.inline(one, "p")["svg"]
        return re.findall(r'class="entry".*?<text[^>]*>([^<]*)<', ink, re.S)
    wrong = []
    for panels, heads, series in itertools.product((1, 2, 3), (1, 6, 60), ("head", "layer")):
        made = [{"layer": layer, "head": head, "x": x, "y": 50.0 + layer if head == layer else 1.0 + head / 100}
                for layer in range(panels) for head in range(heads) for x in range(3)]
        for outliers in (False, True):
            one = compose.build(Figure("f", ("t",), panel_by=("layer",), series_by=(series,), outliers=outliers,
                                       x=Axis("x"), y=Axis("y"), rules=(Rule("a rule", at=1.0),)), tables(t=made).rows("t"))
            drawn = picture(one)
            shown, listed = list(handles(drawn)), entries(one)
            cut = max(len({series.name for series in one.series()}) + 1 - 40, 0) if not outliers else 0
            if shown != listed or cut != (60 + 1 - 40 if "Not in the legend: head" in one.caption else 0):
                wrong.append((panels, heads, series, outliers, shown[:3], listed[:3], one.caption))
    tap.ok("each entry, and what has none is named", not wrong, str(wrong[:2]))


# ---- Panels ----

def panels_without_one_below_have_labels():
    wrong = []
    for count, names, scale in itertools.product((2, 5, 7), (False, True), ("linear", LOG)):
        made = [{"p": p, "x": f"n{x}" if names else x, "y": 10.0**x} for p in range(count) for x in range(1, 4)]
        one = compose.build(Figure("f", ("t",), marks=POINTS, panel_by=("p",), x=Axis("x", scale="linear" if names else scale),
                                   y=Axis("y", scale=scale)), tables(t=made).rows("t"))
        drawn = draw.draw(one)
        drawn.figure.canvas.draw()
        for i, axis in enumerate(drawn.axes):
            bottom = i + draw.ACROSS >= count
            labelled = any(label.get_visible() and label.get_text() for label in axis.get_xticklabels())
            if (labelled, bool(axis.get_xlabel())) != (bottom, bottom):
                wrong.append(f"{count} {names} {scale} panel {i}: {labelled} {axis.get_xlabel()!r}")
        matplotlib.pyplot.close("all")
    tap.ok("also above an empty place of the last row", not wrong, "\n".join(wrong[:4]))


def the_only_panel_names_the_figure():
    made = [{"layer": 3, "x": x, "y": float(x)} for x in range(3)]
    one = compose.build(Figure("f", ("t",), panel_by=("layer",), x=Axis("x"), y=Axis("y"), title="kernel"),
                        tables(t=made).rows("t"))
    tap.ok("in its title", one.title == "kernel, layer 3" and picture(one).axes[0].get_title("center") == "", one.title)


# ---- Axes ----

def ticks_bracket_the_data():
    wrong = []
    for marks, trial in itertools.product((LINE, POINTS), range(30)):
        centre, size = chance.choice([0.0, 1.0, 50.0, -3e5]), 10.0 ** chance.randrange(-6, 6)
        values = [centre + size * chance.uniform(-1, 1) for _ in range(9)]
        one = compose.build(Figure("f", ("t",), marks=marks, x=Axis("x"), y=Axis("y")),
                            tables(t=[{"x": y / 3, "y": y} for y in values]).rows("t"))
        axis = picture(one).axes[0]
        for of, limits, least, greatest in ((axis.xaxis, axis.get_xlim(), min(values) / 3, max(values) / 3),
                                            (axis.yaxis, axis.get_ylim(), min(values), max(values))):
            ticks = of.get_majorticklocs()
            reach = 1e-9 * (greatest - least)
            if not (limits[0] < ticks[0] <= least + reach and greatest - reach <= ticks[-1] < limits[1]):
                wrong.append((centre, size, list(ticks), least, greatest))
    tap.ok("at both ends of a linear axis", not wrong, str(wrong[:2]))


def ticks_of_counts_are_whole():
    """Marks that stand beside a whole number are its own."""
    made = [{"g": g, "head": head, "y": chance.random(), "lo": 0.0, "hi": 1.0} for g in "ab" for head in range(4)]
    one = compose.build(Figure("f", ("t",), marks=POINTS, series_by=("g",), x=Axis("head"), y=Axis("y"), lo="lo",
                               hi="hi"), tables(t=made).rows("t"))
    drawn = picture(one)
    tap.ok("a tick a head, and none without one", list(drawn.axes[0].get_xticks()) == [0, 1, 2, 3],
           str(drawn.axes[0].get_xticks()))
    shift = drawn.marks[0][1].x - drawn.marks[0][0].x
    tap.ok("whiskers at one place stand side by side", np.allclose(shift, shift[0]) and 0 < shift[0] < 0.5, str(shift))
    made = [{"g": g, "x": 1.0, "y": 2.0, "lo": 1.0, "hi": 3.0} for g in "ab"]
    one = compose.build(Figure("f", ("t",), marks=POINTS, series_by=("g",), x=Axis("x"), y=Axis("y"), lo="lo", hi="hi"),
                        tables(t=made).rows("t"))
    places = [list(marks.x) for marks in picture(one).marks[0]]
    tap.ok("but a real number that is whole keeps its place", places == [[1.0], [1.0]], str(places))
    real = compose.build(Figure("f", ("t",), marks=POINTS, x=Axis("y"), y=Axis("head")),
                         tables(t=[{"y": 0.0, "head": 1}, {"y": 1.0, "head": 2}]).rows("t"))
    tap.ok("numbers that happen to be whole are no counts", any(tick % 1 for tick in picture(real).axes[0].get_xticks()))


def decades_are_in_sight():
    made = [{"x": i, "y": sign * 10.0 ** i} for sign in (-1, 1) for i in range(-1, 5)] + [{"x": 6, "y": -130900.0}]
    one = compose.build(Figure("f", ("t",), marks=POINTS, x=Axis("x"), y=Axis("y", scale="chosen")), tables(t=made).rows("t"))
    axis = picture(one).axes[0]
    ticks = axis.get_yticks()
    tap.ok("a tick within a decade of each end", one.y.kind == "symlog" and ticks[0] == -1e5 and 0 in ticks and
           ticks[-1] >= 1e4, str(ticks))


def long_names_have_room():
    for name, wide in (("x" * 10, False), ("x" * 30, True)):
        one = compose.build(Figure("f", ("t",), marks=POINTS, x=Axis("x", label="eigenvalue or singular value"), y=Axis("n")),
                            tables(t=[{"x": 1.0, "n": name}, {"x": 2.0, "n": "b"}]).rows("t"))
        axis = draw.draw(one).axes[0]
        axis.figure.canvas.draw()
        box, label = axis.figure.bbox, axis.xaxis.label.get_window_extent()
        tap.ok(f"names of {len(name)} letters: the figure is wide where it must be, and nothing is cut", (one.width is not None)
               == wide and box.x0 <= label.x0 and label.x1 <= box.x1, f"{one.width} {label} {box}")
        matplotlib.pyplot.close("all")


def labels_of_low_maps_are_whole():
    for values, count in (((3.0, 3.0), 1), ((1.0, 3.0), 2)):
        made = [{"x": x, "y": 0, "largest singular value": value} for x, value in enumerate(values)]
        one = compose.build(Figure("f", ("t",), marks=CELLS, x=Axis("x"), y=Axis("y"), value="largest singular value"),
                            tables(t=made).rows("t"))
        figure = draw.draw(one).figure
        figure.canvas.draw()
        bar = figure.axes[1]
        label = bar.yaxis.label.get_window_extent()
        ticks = {text.get_text() for text in bar.get_yticklabels() + bar.get_yticklabels(minor=True) if text.get_text()}
        tap.ok(f"{count} value: the label of the colours is inside, ticks differ", label.y0 >= figure.bbox.y0 and
               label.y1 <= figure.bbox.y1 and (len(ticks) == 1) == (count == 1), f"{label} {ticks}")
        matplotlib.pyplot.close("all")


captions_count_what_is_lost()
other_values_are_counted()
names_without_a_place_are_counted()
needed_values_are_counted()
arrays_have_no_masks()
rules_are_counted()
legends_show_what_is_drawn()
names_stand_once()
page_and_notebook_list_the_same()
panels_without_one_below_have_labels()
the_only_panel_names_the_figure()
ticks_bracket_the_data()
ticks_of_counts_are_whole()
decades_are_in_sight()
long_names_have_room()
labels_of_low_maps_are_whole()
tap.finish()
