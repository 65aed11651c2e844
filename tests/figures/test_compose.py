#!/usr/bin/python3
"""The framework of figures: rows, choice, thinning, words and ink against slow ways to the same, at corners."""
import decimal
import itertools
import math
import statistics
import warnings

import matplotlib.pyplot
from support import chance, compose, draw, drawing, np, rows, tables, tap, typed

from szego.figures import thin, words
from szego.figures.record import CELLS, LOG, POINTS, RANGES, Axis, Figure, Section

warnings.simplefilter("error")
LONG = "x" * 100
TEXTS = ["a", "b", "", None, "$x^2$", "<b>&", LONG + "1", LONG + "2", "nan", "\x00\n"]
WHOLE = [0, 1, -1, 2**53, 2**53 + 1, None]
REAL = [0.0, -0.0, 1.5, float("nan"), float("inf"), 1e300, None, 5e-324]
FIGURE = Figure("f", ("t",), x=Axis("x"), y=Axis("y"))


# ---- Rows ----

def random_table(count):
    return [{"t": chance.choice(TEXTS), "i": chance.choice(WHOLE), "r": chance.choice(REAL), "z": None} for _ in range(count)]


def cell_of(row, name):
    """What a cell is compared by: None where it is empty."""
    value = row.get(name)
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    return value


def as_npz(made):
    """The same rows as the structured array of an npz file, which has no masks: NaN and "" are empty."""
    real = np.array([np.nan if row["r"] is None else row["r"] for row in made])
    text = np.array([(row["t"] or "").replace("\x00", "0") for row in made], "U120")
    out = np.zeros(len(made), [("t", "U120"), ("i", "i8"), ("r", "f8")])
    out["t"], out["i"], out["r"] = text, [row["i"] or 0 for row in made], real
    plain = [{"t": t, "i": row["i"] or 0, "r": row["r"]} for t, row in zip(text.tolist(), made)]
    return rows.Tables({"t": out}).rows("t"), plain


def split_as(made, columns):
    groups = {}
    for i, row in enumerate(made):
        groups.setdefault(tuple(cell_of(row, name) for name in columns if name in row), []).append(i)
    return list(groups.values())


def rows_are_those_of_loops():
    wrong = set()
    for _ in range(80):
        made = random_table(chance.randrange(1, 40))
        both = [(tables(t=made).rows("t"), made), as_npz(made)]
        for all_rows, plain in both:
            for columns in itertools.chain.from_iterable(itertools.permutations(["t", "i", "r", "none"], k) for k in range(4)):
                found = [list(map(int, group.index)) for group in all_rows.split(*columns)]
                if found != split_as(plain, columns):
                    wrong.add(f"split {columns}")
            numbers = [row["r"] for row in plain if row["r"] is not None and math.isfinite(row["r"])]
            if all_rows.distinct("r").tolist() != sorted(set(numbers)):
                wrong.add("distinct")
            if all_rows.has_several("r") != (len(set(numbers)) > 1):
                wrong.add("has_several")
            for name in ("t", "i", "r", "none"):
                if list(all_rows.filled(name).index) != [i for i, row in enumerate(plain) if cell_of(row, name) is not None]:
                    wrong.add(f"filled {name}")
            if list(all_rows.known("r").index) != [i for i, row in enumerate(plain) if row["r"] is not None and
                                                   math.isfinite(row["r"])]:
                wrong.add("known")
            texts = chance.sample(["a", "$x^2$", LONG + "1", "nan", "None"], 2)
            if list(all_rows.where("t", *texts).index) != [i for i, row in enumerate(plain) if row["t"] in texts]:
                wrong.add("where")
            keys = [chance.choice([None, 1, "k"]) for _ in plain]
            expected = {}
            for i, key in enumerate(keys):
                if key is not None:
                    expected.setdefault(key, []).append(i)
            if [list(group.index) for group in all_rows.split_by(keys)] != list(expected.values()):
                wrong.add("split_by")
        wrong |= match_is_that_of_loops(made, both)
    for what in ("split", "distinct", "has_several", "filled", "known", "where", "split_by", "match"):
        tap.ok(f"rows: {what}", not any(one.startswith(what) for one in wrong), str(sorted(wrong)))
    none = tables(t=[]).rows("t")
    tap.ok("rows: none", len(none) == 0 and none.split("a") == [] and none.text("a") is None and
           math.isnan(none.number("a")) and not len(none.where("a", "b")) and none.split_by([]) == [])


def match_is_that_of_loops(made, both):
    """The first group like a row, among groups of the same or of a table that lacks a column."""
    all_rows, plain = both[0]
    other = tables(t=[{key: row[key] for key in ("t", "r")} for row in made]).rows("t")
    at = chance.randrange(len(made))
    for columns in (("t",), ("r", "i"), ("t", "i", "r"), ("none",)):
        groups = all_rows.split("t", "i")
        for like, shared in ((all_rows.pick([at]), columns), (other.pick([at]), [c for c in columns if c != "i"])):
            expected = next((group for group in groups if all(cell_of(plain[group.index[0]], name) ==
                                                              cell_of(plain[at], name) for name in shared)), None)
            if rows.match(groups, like, *columns) is not expected:
                return {f"match {columns}"}
    return set()


# ---- Means, outliers, scales ----

def random_values(count):
    kind = chance.choice(["normal", "equal", "far", "corners", "positive"])
    values = [chance.gauss(0, 1) for _ in range(count)]
    if kind == "equal":
        values = [2.0] * count
    if kind == "far":
        values = [chance.choice([1.0, 1.01, 1e3, -1e5]) for _ in range(count)]
    if kind == "corners":
        values = [chance.choice([0.0, float("nan"), float("inf"), 1e300, -1e300, 5e-324, 1.0]) for _ in range(count)]
    if kind == "positive":
        values = [10 ** chance.uniform(-4, 4) for _ in range(count)]
    return values


def slow_outliers(values, most):
    finite = [v for v in values if math.isfinite(v)]
    if len(finite) < 5:
        return []
    middle = statistics.median(finite)
    away = [abs(v - middle) for v in finite]
    unit = statistics.median(away) / 0.6745 if statistics.median(away) > 0 else sum(a / len(away) for a in away) / 0.7979
    if not unit > 0:
        return []
    scored = [(abs(v - middle) / unit, -i) for i, v in enumerate(values) if math.isfinite(v)]
    return [-i for score, i in sorted(scored, reverse=True)[:most] if score > 3.5]


def slow_scale(values):
    sizes = [abs(v) for v in values if math.isfinite(v) and v != 0]
    if not sizes or not max(sizes) / 100 > statistics.median(sizes):
        return "linear", 0.0
    if all(v > 0 for v in values if math.isfinite(v)):
        return "log", 0.0
    return "symlog", max(10.0 ** math.floor(math.log10(statistics.median(sizes))), 1e-300)


def choices_are_those_of_loops():
    wrong = []
    for _ in range(600):
        values = random_values(chance.randrange(0, 30))
        if compose.outliers(np.array(values)) != slow_outliers(values, 4):
            wrong.append(("outliers", values))
        kind, linear = compose.chosen_scale(np.array(values, float))
        if kind != slow_scale(values)[0] or not math.isclose(linear, slow_scale(values)[1], rel_tol=1e-12):
            wrong.append(("scale", values))
    for what in ("outliers", "scale"):
        tap.ok(f"{what} are those of loops", not any(one[0] == what for one in wrong), str(wrong[:1]))


def means_are_those_of_loops():
    wrong = []
    for _ in range(200):
        made = [{"x": chance.choice([0, 1.5, -0.0, float("nan"), float("inf"), 1e300, None]),
                 "y": chance.choice([1.0, 1e308, -1e308, float("nan"), None, chance.random()])}
                for _ in range(chance.randrange(1, 30))]
        groups = {}
        for row in made:
            if all(row[name] is not None and math.isfinite(row[name]) for name in "xy"):
                groups.setdefault(row["x"] + 0.0, []).append(row["y"])
        found = compose.means(tables(t=made).rows("t"), "x", "y")
        expected = [(x, float(sum(map(decimal.Decimal, groups[x])) / len(groups[x])), min(groups[x]), max(groups[x]),
                     len(groups[x])) for x in sorted(groups)]
        for one, other in itertools.zip_longest(zip(*found), expected, fillvalue=(0,) * 5):
            scale = max(abs(other[2]), abs(other[3]), 5e-324)
            if one[0] != other[0] or one[2:] != other[2:] or abs(one[1] - other[1]) > 1e-14 * scale:
                wrong.append((one, other))
    tap.ok("means, extremes and counts", not wrong, str(wrong[:2]))


# ---- Which figures ----

def every_group_gets_one_first():
    wrong = []
    for _ in range(60):
        groups = [f"{LONG}{i}" for i in range(chance.randrange(1, 9))]
        made = [{"g": group, "h": name, "x": i, "y": float(i)} for group in groups for i in range(2) for name in "abc"]
        figures = tuple(Figure(f"f{name}", ("t",), where=("h", *name), figure_by=("g", "h"), group_by=("g",), x=Axis("x"), y=Axis("y"),
                               subject=lambda rows: rows.text("g")) for name in ("ab", "c"))
        most = chance.randrange(1, 20)
        section = Section("s", "s", ("t",), figures=figures, most=most)
        found = list(compose.section_blocks(section, tables(t=made)))
        drawn = [one.title for one in found if isinstance(one, drawing.Drawing)]
        counts = [drawn.count(group) for group in groups]
        text = "".join(one.text for one in found if isinstance(one, drawing.Paragraph))
        left = [group for group, count in zip(groups, counts) if count < 3]
        if len(drawn) != min(most, 3 * len(groups)) or max(counts) - min(counts) > 1:
            wrong.append((most, counts))
        several = len(left) > 6 or sum(3 - count for count in counts) > len(left)
        if sum(group in text for group in left) < min(len(left), 6) or several != ("left out, among them" in text):
            wrong.append((left, text))
    tap.ok("each group has a figure before any has a second, and the rest is named", not wrong, str(wrong[:1])[:600])


def names_stay_apart():
    made = [{"g": f"{LONG}{i}", "p": f"{LONG}{i % 2}", "x": x, "y": 1.0} for i in range(4) for x in range(2)]
    figure = Figure("f", ("t",), panel_by=("p",), series_by=("g",), x=Axis("x"), y=Axis("y"))
    one = compose.build(figure, tables(t=made).rows("t"))
    names = [series.name for series in one.series()]
    tap.ok("long names that differ at their ends do so when cut", len(set(names)) == 4 and max(map(len, names)) < 60 and
           len({panel.name for panel in one.panels}) == 2, str(names))
    made = [{"p": p, "g": g, "x": x, "y": 1.0} for p, names in enumerate(("ab", "cb", "da")) for g in names for x in range(2)]
    one = compose.build(Figure("f", ("t",), panel_by=("p",), series_by=("g",), x=Axis("x"), y=Axis("y")),
                        tables(t=made).rows("t"))
    tap.ok("a name has one colour in every panel", [series.colour for series in one.series()] == [0, 1, 2, 1, 3, 0])
    for texts in (["a", "b"], [LONG + "1", LONG + "2"], [None, ""], ["a" * 48 + "bc", "a" * 48 + "bd", "z"], [LONG, LONG]):
        cut = words.apart(texts)
        tap.ok(f"apart: {len(texts)} texts", [a == b for a, b in itertools.combinations(cut, 2)] ==
               [(a or "") == (b or "") for a, b in itertools.combinations(texts, 2)], str(cut))
    made = [{"s": i, "x": 0, "y": 1.0} for i in range(300)]
    one = compose.build(Figure("f", ("t",), series_by=("s",), marks=POINTS, x=Axis("x"), y=Axis("y")),
                        tables(t=[{**row, "seed": row["s"]} for row in made]).rows("t"))
    tap.ok("series beyond the limit are named", len(one.series()) == 256 and
           one.caption.endswith("Not drawn: s 256 to s 299. Not in the legend: s 40 to s 255."), one.caption)


# ---- Fewer points ----

def lines_keep_what_is_seen():
    wrong = []
    for trial in range(300):
        count, columns = chance.randrange(0, 400), chance.choice([1, 2, 5, 20])
        x = [float(i) for i in range(count)]
        if trial % 3 == 1:
            x = [chance.uniform(-1, 1) for _ in range(count)]
        elif trial % 3 == 2:
            x = [-1e300 + 2e300 * i / max(count, 1) for i in range(count)][::chance.choice([-1, 1])]
        y = [chance.choice([chance.gauss(0, 1), 0.0, float("nan") if trial % 2 else 1.0, 1e300]) for _ in range(count)]
        kept = thin.line(np.array(x), np.array(y), np.array(y), columns).tolist()
        finite = [i for i in range(count) if math.isfinite(y[i])]
        shown = [i for i in kept if math.isfinite(y[i])]
        gaps = [i for i in kept if not math.isfinite(y[i])]
        if kept != sorted(set(kept)) or (len(finite) <= 4 * columns and shown != finite) or \
                len(shown) > max(6 * columns, 4 * columns):
            wrong.append(("limits", trial))
        if finite and not ({finite[0], finite[-1]} <= set(shown) and min(y[i] for i in finite) == min(y[i] for i in shown)
                           and max(y[i] for i in finite) == max(y[i] for i in shown)
                           and min(x[i] for i in finite) == min(x[i] for i in shown)
                           and max(x[i] for i in finite) == max(x[i] for i in shown)):
            wrong.append(("extremes", trial))
        for a, b in zip(shown, shown[1:]):
            broken = any(not math.isfinite(y[i]) for i in range(a + 1, b))
            if broken != any(a < i < b for i in gaps):
                wrong.append(("breaks", trial))
    for what in ("limits", "extremes", "breaks"):
        tap.ok(f"thin lines: {what}", not any(one[0] == what for one in wrong), str(wrong[:3]))


def clouds_keep_what_is_seen():
    wrong = []
    for trial in range(200):
        count, limit = chance.randrange(0, 600), chance.choice([4, 10, 100])
        x, y = np.array(random_values(count), float), np.array(random_values(count), float)
        kept = thin.cloud(x, y, limit)
        finite = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        if len(kept) > limit or not set(kept) <= set(finite) or (np.diff(kept) <= 0).any() or \
                (len(finite) <= limit and kept.tolist() != finite.tolist()):
            wrong.append(("limits", trial))
        if len(finite) and any(f(a[kept]) != f(a[finite]) for a in (x, y) for f in (np.min, np.max)):
            wrong.append(("extremes", trial))
    for what in ("limits", "extremes"):
        tap.ok(f"thin clouds: {what}", not any(one[0] == what for one in wrong), str(wrong[:3]))


# ---- Numbers as words ----

def random_number():
    value = chance.choice([1.0, -1.0]) * 10.0 ** chance.uniform(-324, 308)
    return chance.choice([value, chance.uniform(-10, 10), float(chance.randrange(-10**6, 10**6)), 0.1, 0.99999951, 1e5,
                          999999.5, 5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 2.2250738585072014e-308, 0.0,
                          0.1 + 0.2, 123456.5, 1e15, 1 - 2**-53])


def ends_round_outwards():
    wrong = []
    for _ in range(3000):
        value, digits = random_number(), chance.choice([1, 3, 6, 15])
        for way, end in ((-1, words.lower), (1, words.upper)):
            text = typed(end(value, digits))
            context = decimal.Context(prec=digits, Emin=-9999, Emax=9999)
            if (float(text) - value) * way < 0:
                wrong.append(("side", value, digits, text))
            if len(decimal.Decimal(text).normalize().as_tuple().digits) > digits and float(text) != value and "e" not in text:
                wrong.append(("digits", value, digits, text))
            nearer = (context.next_minus if way > 0 else context.next_plus)(decimal.Decimal(text))
            if value and abs(value) > 1e-290 and (float(nearer) - value) * way >= 0 and float(nearer) != float(text):
                wrong.append(("nearest", value, digits, text, nearer))
    for what in ("side", "digits", "nearest"):
        tap.ok(f"ends: {what}", not any(one[0] == what for one in wrong), str([o for o in wrong if o[0] == what][:3]))
    for value, text in ((1.0, "1"), (0.99999951, "0.999999"), (1 - 2**-53, "0.999999"), (-1e-5, "-1e-05"),
                        (123456.5, "123456"), (-0.1, "-0.1"), (float("inf"), "inf")):
        tap.ok(f"lower end of {value!r}", typed(words.lower(value)) == text, words.lower(value))


def numbers_have_four_digits():
    wrong = []
    for _ in range(3000):
        value = random_number()
        text = typed(words.number(value))
        exact = decimal.Decimal(value)
        four = float(decimal.Context(prec=4, rounding=decimal.ROUND_HALF_EVEN).plus(exact))
        if float(text) != (value if value == int(value) and abs(value) < 1e15 else four):
            wrong.append((value, text))
        if "e" in text and 1e-4 <= abs(value) < 9.9e14:
            wrong.append((value, text))
        if float(typed(words.exact(value))) != value:
            wrong.append((value, words.exact(value)))
    tap.ok("four digits, and those of whole numbers", not wrong, str(wrong[:4]))


# ---- Ink ----

def shown(one, **how):
    """Draws for certain, text included."""
    drawn = draw.draw(one, **how)
    drawn.figure.canvas.draw()
    return drawn


def made_drawing(marks, count, values, names, scale="linear", panels=1, **more):
    made = tables(t=[{"x": i} for i in range(count)]).rows("t")
    one = drawing.Drawing(FIGURE, made, names[0], drawing.Scale(names[-1], scale, 1e-3), drawing.Scale(names[0], scale, 1e-3),
                          [])
    for p in range(panels):
        panel = drawing.Panel(made, names[p % len(names)] if panels > 1 else None)
        for s in range(more.get("series", 1)):
            y = np.array([values[(i + s) % len(values)] for i in range(count)], float)
            panel.series.append(drawing.Series(made, names[s % len(names)], marks, np.arange(count, dtype=float), y,
                                               y - 1 if marks == RANGES or more.get("whiskers") else None,
                                               y + 1 if marks == RANGES or more.get("whiskers") else None, colour=s,
                                               flat=marks == RANGES))
        one.panels.append(panel)
    return one


HOSTILE = ["$x^2$", r"$\frac{$", "<script>&", "\x00\x1b\n\t", LONG * 2, "", "_leading", "%s {x}"]


def ink_survives():
    corners = [1.0, float("nan"), float("inf"), -float("inf"), 1e300, -1e300, 0.0, 5e-324]
    failed = []
    for marks in ("line", "points", "bars", "ranges", "violins"):
        chance_scale = chance.choice(["linear", "log", "symlog"])
        for scale in ("linear", "log", "symlog"):
            alike = [("zeros", [0.0]), ("NaN", [float("nan")]), ("one", [3.0]), ("huge", [1e300]), ("small", [5e-324])]
            for name, values in [("corners", corners)] + ([chance.choice(alike)] if scale == chance_scale else []):
                try:
                    shown(made_drawing(marks, 12, values, HOSTILE[:3], scale))
                except Exception as error:  # pylint: disable=broad-exception-caught
                    failed.append(f"{marks} {scale} {name}: {type(error).__name__} {error}"[:150])
                matplotlib.pyplot.close("all")
    tap.ok("every mark survives corners on every scale", not failed, "\n".join(failed))
    failed = []
    for name, make in (("hostile names", lambda: made_drawing("line", 3, [1.0], HOSTILE, series=len(HOSTILE))),
                       ("hostile panels", lambda: made_drawing("line", 3, [1.0], HOSTILE, panels=len(HOSTILE))),
                       ("30 panels", lambda: made_drawing("points", 3, [1.0], ["a"], panels=30)),
                       ("300 series", lambda: made_drawing("line", 3, [1.0, 2.0], [f"s{i}" for i in range(300)], series=300)),
                       ("no points", lambda: made_drawing("line", 0, [1.0], ["a"]))):
        try:
            drawn = shown(make())
            width, height = drawn.figure.get_size_inches()
            for axis in drawn.axes:
                box = axis.get_position()
                if box.width * width < 1 or box.height * height < 0.8 or box.height * height > height:
                    failed.append(f"{name}: axes of {box.width * width:.2f} x {box.height * height:.2f} inches")
        except Exception as error:  # pylint: disable=broad-exception-caught
            failed.append(f"{name}: {type(error).__name__} {error}"[:200])
        matplotlib.pyplot.close("all")
    tap.ok("names, panels and series of every number", not failed, "\n".join(failed))


def cells_survive():
    failed = []
    for name, values in (("one value", [2.0]), ("zeros", [0.0]), ("NaN besides", [1.0, float("nan")]), ("1e300", [1e300, 1.0]),
                         ("both ends", [1e300, -1e300]), ("infinite", [float("inf"), 1.0]), ("small", [5e-324])):
        for colours, middle in [(LOG, 0)] + chance.sample([("linear", 0), ("linear", 1)], name == "small"):
            made = tables(t=[{"x": i % 3, "y": i // 3, "v": values[i % len(values)]} for i in range(9)]).rows("t")
            try:
                one = compose.build(Figure("f", ("t",), marks=CELLS, x=Axis("x"), y=Axis("y"), value="v", colours=colours,
                                           middle=middle, title="$t"), made)
                if one is not None:
                    drawn = shown(one)
                    below = drawn.axes[0].xaxis.label.get_window_extent().y0
                    if below < 0:
                        failed.append(f"{name}: the label is cut: {below}")
            except Exception as error:  # pylint: disable=broad-exception-caught
                failed.append(f"{name} {colours} {middle}: {type(error).__name__} {error}"[:160])
            matplotlib.pyplot.close("all")
    tap.ok("cells of every value, with their labels", not failed, "\n".join(failed))


def callers_axes_are_used():
    figure, axes = matplotlib.pyplot.subplots(1, 2)
    drawn = shown(made_drawing("line", 4, [1.0, 2.0], ["a", "b"], panels=2, series=2), axes=axes)
    tap.ok("the caller's axes are drawn into, and the figure keeps its size", drawn.figure is figure and
           all(axis.lines for axis in axes) and tuple(figure.get_size_inches()) == tuple(
               matplotlib.pyplot.rcParams["figure.figsize"]) and axes[0].get_legend() is not None)
    figure, axis = matplotlib.pyplot.subplots()
    shown(made_drawing("line", 4, [1.0, 2.0], ["a", "b"]), axes=[axis])
    tap.ok("so is a single one", tuple(figure.get_size_inches()) == tuple(matplotlib.pyplot.rcParams["figure.figsize"]))
    matplotlib.pyplot.close("all")


def marks_know_their_rows():
    """Mark k is point index[k]: it has its x and y, also behind NaN and in thinned series."""
    wrong = []
    for marks, count in (("line", 50), ("line", 9000), ("points", 50), ("points", 9000), ("bars", 40), ("ranges", 40),
                         ("violins", 60)):
        values = [float("nan") if chance.random() < 0.3 else chance.uniform(1, 9) for _ in range(count)]
        one = made_drawing(marks, count, values, ["a"])
        if marks == "violins":
            one.panels[0].series[0].x = np.arange(count) % 2 * 1.0
        if marks == "ranges":
            one.panels[0].series[0].y, lo = np.arange(count, dtype=float), np.array(values) - 1
            one.panels[0].series[0].lo, one.panels[0].series[0].hi = lo, lo + 2
        found = shown(one).marks[0][0]
        finite = [i for i, value in enumerate(values) if math.isfinite(value)]
        for k, i in enumerate(found.index):
            if marks == "ranges":
                right = found.y[k] == i and abs(found.x[k] - values[i]) < 1e-9
            elif math.isnan(values[i]):
                right = math.isnan(found.y[k])
            else:
                right = found.y[k] == values[i] and (marks == "violins" or found.x[k] == i)
            if not right:
                wrong.append((marks, count, k))
        real = [i for i in found.index if math.isfinite(values[i])]
        if count < 100 and sorted(real) != finite:
            wrong.append((marks, count, "missing"))
        matplotlib.pyplot.close("all")
    tap.ok("each mark has its row", not wrong, str(wrong[:5]))


rows_are_those_of_loops()
choices_are_those_of_loops()
means_are_those_of_loops()
every_group_gets_one_first()
names_stay_apart()
lines_keep_what_is_seen()
clouds_keep_what_is_seen()
ends_round_outwards()
numbers_have_four_digits()
ink_survives()
cells_survive()
callers_axes_are_used()
marks_know_their_rows()
tap.finish()
