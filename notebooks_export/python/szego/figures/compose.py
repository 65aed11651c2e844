"""From records and tables to drawings: which figures a section has, their panels, series and words."""
import numpy as np

from . import labels, unplaced, words
from .drawing import Cells, Drawing, Heading, Line, Listing, Panel, Paragraph, Scale, Series
from .record import (BARS, CELLS, CHOSEN, EACH, LOG, MEANS, PANELS, PLACES, RANGES, RANKED, ROWS, SERIES, VIOLINS)

NAMED, ROWS_SHOWN, FEW, MOST_OUTLIERS = 6, 4, 4, 4
LONG, WIDE = 24, 6.67  # characters of names beside an axis, and inches of a figure with longer ones
WHOLE = 10**6  # characters of a name that is cut later


# ---- Scales and what stands out ----

def chosen_scale(values):
    """(kind, linear): linear where no value is more than 100 times the median size of those that are not 0, else
    log where all are positive, else symlog from the power of ten below that median on."""
    finite = values[np.isfinite(values)]
    sizes = np.abs(finite[finite != 0])
    if not len(sizes) or not sizes.max() / 100 > np.median(sizes):
        return "linear", 0.0
    if (finite > 0).all():
        return "log", 0.0
    return "symlog", max(10.0 ** np.floor(np.log10(np.median(sizes))), 1e-300)


def outliers(values, most=MOST_OUTLIERS):
    """Indices of the values that stand out, the farthest first: those with a modified z-score above 3.5 (Iglewicz
    and Hoaglin 1993, chapter 4), by the mean deviation where the median deviation is 0. None of fewer than five."""
    finite = values[np.isfinite(values)]
    if len(finite) < 5:
        return []
    median = np.median(finite)
    away = np.abs(finite - median)
    unit = np.median(away) / 0.6745 if np.median(away) > 0 else np.mean(away) / 0.7979
    if not unit > 0:
        return []
    with np.errstate(over="ignore"):
        score = np.where(np.isfinite(values), np.abs(values - median) / unit, 0)
    order = np.argsort(-score, kind="stable")[:most]
    return [int(i) for i in order if score[i] > 3.5]


def name_head(layer, head):
    """The key "2.4" of head 4 of layer 2, by which a page finds it in every figure; None: no head of a layer."""
    return f"{layer:.0f}.{head:.0f}" if np.isfinite(layer) and np.isfinite(head) else None


# ---- Series ----

class _Places:
    """The different values of an axis' column, as names; numbers ascend."""

    def __init__(self, axis, column, rows):
        self.column, self.names, self.numbers = column, None, None
        if column and rows.is_text(column):
            self.names = [text for text in dict.fromkeys(rows.texts(column)) if text is not None][:PLACES]
        elif column and axis.places:
            self.numbers = rows.distinct(column)[:PLACES]
            self.names = [words.number(value) for value in self.numbers]

    def at(self, rows):
        if self.numbers is not None:
            values = rows.numbers(self.column)
            found = np.searchsorted(self.numbers, values).clip(0, max(len(self.numbers) - 1, 0))
            return np.where(self.numbers[found] == values, found, np.nan) if len(self.numbers) else values * np.nan
        place = {name: float(i) for i, name in enumerate(self.names)}
        return np.array([place.get(text, np.nan) for text in rows.texts(self.column)])


def hover_text(figure, name, rows, i):
    """The name, and what the row has in the columns that the figure tells."""
    lines = [name] if name else []
    for column in figure.hover:
        cell = rows.cell(column, i)
        if cell is not None:
            text = words.clipped(cell, 2 * words.NAME_CHARACTERS) if isinstance(cell, str) else words.exact(cell)
            lines.append(f"{labels.words(column, rows.table)}: {text}")
    return "\n".join(lines)


def means(rows, x, y):
    """For every finite x: (x, the mean of the finite y, the least, the greatest, how many)."""
    at, values = rows.numbers(x), rows.numbers(y)
    keep = np.isfinite(at) & np.isfinite(values)
    at, place = np.unique(at[keep], return_inverse=True)
    values = values[keep]
    counts = np.bincount(place, minlength=len(at))
    least, most = np.full(len(at), np.inf), np.full(len(at), -np.inf)
    np.minimum.at(least, place, values)
    np.maximum.at(most, place, values)
    middle = least / 2 + most / 2  # sums of differences from it do not overflow
    mean = middle + np.bincount(place, (values - middle[place]) / np.maximum(counts, 1)[place], len(at))
    return at, np.clip(mean, least, most), least, most, counts


def _spread(drawing, one, mean):
    figure, column = drawing.figure, one.column
    seeds = (column.seeds if column else figure.seeds) or "seeds"
    several = one.rows.numbers(seeds) > 1
    axis = figure.x if one.flat else figure.y
    spread = one.rows.numbers(column.spread if column else figure.spread) * axis.times
    return np.where(several, mean - spread, np.nan), np.where(several, mean + spread, np.nan)


def _take_each(drawing, one, x, y):
    figure, rows = drawing.figure, one.rows
    column = one.column.column if one.column else figure.y.column
    spread = one.column.spread if one.column else figure.spread
    if x.names is not None:
        one.x = x.at(rows)
    elif drawing.x_column:
        one.x = figure.x.times * rows.numbers(drawing.x_column)
    else:
        one.x = np.arange(len(rows), dtype=float)
    one.y = y.at(rows) if y.names is not None else figure.y.times * rows.numbers(column)
    one.flat = figure.marks == RANGES or bool(spread and y.names is not None)
    times = (figure.x if one.flat else figure.y).times
    if spread:
        one.lo, one.hi = _spread(drawing, one, one.x if one.flat else one.y)
    else:
        one.lo = times * rows.numbers(figure.lo) if figure.lo else None
        one.hi = times * rows.numbers(figure.hi) if figure.hi else None


def _take_means(drawing, one):
    figure = drawing.figure
    column = one.column.column if one.column else figure.y.column
    x, mean, least, most, counts = means(one.rows, drawing.x_column, column)
    one.x, one.y = figure.x.times * x, figure.y.times * mean
    if (least < most).any():
        one.lo, one.hi = figure.y.times * least, figure.y.times * most
    one.least, one.most = (int(counts.min()), int(counts.max())) if len(counts) else (0, 0)


def _take_sorted(drawing, one):
    figure = drawing.figure
    values = one.rows.numbers(one.column.column if one.column else figure.y.column)
    values = figure.y.times * np.sort(values[np.isfinite(values)])
    if figure.values == RANKED:
        one.x, one.y = np.arange(1.0, len(values) + 1), values[::-1].copy()
    else:
        one.x, one.y = (np.arange(len(values)) + 0.5) / max(len(values), 1), values


def _head_of(figure, one):
    rows = one.rows
    if "head" in figure.series_by:
        return name_head(rows.number("layer"), rows.number("head"))
    if figure.marks == VIOLINS and figure.values == EACH and len(one.y) == len(rows):
        return [name_head(*place) for place in zip(rows.numbers("layer"), rows.numbers("head"))]
    return None


def add_series(drawing, panel, rows, name, x=None, y=None, **fields):
    """A further series at the end of a panel, with the marks of the record."""
    empty = np.zeros(0)
    one = Series(rows, name, fields.pop("marks", drawing.figure.marks), empty if x is None else np.asarray(x, float),
                 empty if y is None else np.asarray(y, float), colour=fields.pop("colour", len(panel.series)),
                 flat=drawing.figure.marks == RANGES, **fields)
    panel.series.append(one)
    return one


def _take_series(drawing, panel, rows, column, places):
    figure = drawing.figure
    if column:
        name = column.name or labels.words(column.column, rows.table)
    else:
        name = (figure.series_name(rows) if figure.series_name else words.key(rows, figure.series_by)) or None
    one = add_series(drawing, panel, rows, name, column=column)
    if column:
        one.colour = figure.columns.index(column) if column.colour is None else column.colour
    if figure.values == EACH:
        _take_each(drawing, one, *places)
    elif figure.values == MEANS:
        _take_means(drawing, one)
    else:
        _take_sorted(drawing, one)
    one.area = figure.values == MEANS or figure.area
    one.head = _head_of(figure, one)


def mark_outliers(drawing, panel):
    """Colours the series that stand out; the others are grey, and one entry of the legend."""
    figure, all_series = drawing.figure, panel.series
    if len(all_series) <= FEW:
        return
    peaks = np.array([one.last() if figure.by_last else one.peak() for one in all_series])
    if figure.y.scale == LOG:
        with np.errstate(divide="ignore", invalid="ignore"):
            peaks = np.log10(peaks)
    rank = {i: r for r, i in enumerate(outliers(peaks))}
    grey = [one for i, one in enumerate(all_series) if i not in rank]
    for i, one in enumerate(all_series):
        one.colour = rank.get(i, "muted")
        one.stands_out = i in rank
        one.unlisted = i not in rank and one is not grey[0]
    if len(grey) > 1:
        grey[0].entry = "others" if figure.panel_by else f"{len(grey)} others"


# ---- Cells ----

def _fill_cells(drawing):
    figure, rows = drawing.figure, drawing.rows
    row_keys, column_keys = rows.distinct(figure.y.column)[:PLACES], rows.distinct(figure.x.column)[:PLACES]
    r, c, value = rows.numbers(figure.y.column), rows.numbers(figure.x.column), rows.numbers(figure.value)
    keep = np.isin(r, row_keys) & np.isin(c, column_keys) & np.isfinite(value)
    shape = len(row_keys), len(column_keys)
    at = np.searchsorted(row_keys, r[keep]) * shape[1] + np.searchsorted(column_keys, c[keep])
    counts = np.bincount(at, minlength=shape[0] * shape[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(at, value[keep] / np.maximum(counts, 1)[at], len(counts))
    mean = np.where(counts > 0, mean, np.nan).reshape(shape)
    cells = Cells(row_keys, column_keys, mean, labels.axis(figure.value, rows.table),
                  [words.number(k) for k in row_keys], [words.number(k) for k in column_keys], lo=figure.value_lo,
                  hi=figure.value_hi)
    finite = mean[np.isfinite(mean)]
    if len(finite) and finite.min() > 0:
        cells.log = figure.colours == LOG or (figure.colours == CHOSEN and chosen_scale(finite)[0] == "log")
        if figure.middle > 0:
            reach = np.exp(min(np.abs(np.log(finite) - np.log(figure.middle)).max(), 345))  # at most 1e150
            reach = max(reach, 1 + 1e-6)
            cells.middle, cells.log = figure.middle, True
            cells.lo, cells.hi = figure.middle / reach, figure.middle * reach
    elif figure.middle > 0 and len(finite):
        reach = max(np.abs(finite - figure.middle).max(), 1e-6)
        cells.middle, cells.lo, cells.hi = figure.middle, figure.middle - reach, figure.middle + reach
    if (figure.y.column, figure.x.column) == ("layer", "head"):
        cells.heads = np.array([[name_head(layer, head) for head in column_keys] for layer in row_keys], object)
    drawing.panels = [Panel(rows, cells=cells)]
    drawing.x.names, drawing.y.names = cells.column_names, cells.row_names


# ---- Drawings ----

def _mean_of(rows, rule):
    values = rows.numbers(rule.column) + (rows.numbers(rule.plus) if rule.plus else 0)
    values = values[np.isfinite(values)]
    return float(np.mean(values)) if len(values) else np.nan


def _place_rules(drawing):
    figure = drawing.figure
    for panel in drawing.panels:
        for rule in figure.rules:
            axis = figure.x if rule.vertical else figure.y
            at = _mean_of(panel.rows, rule) * axis.times if rule.column else rule.at
            if np.isfinite(at):
                panel.rules.append(Line(rule.name, at, rule.vertical, rule.colour))


def _extent(drawing, along_x):
    """What stands along an axis, over all panels, which share it."""
    parts = [np.zeros(0)]
    ranges = drawing.figure.marks == RANGES
    for one in drawing.series():
        if not ranges:
            parts.append(one.x if along_x else one.y)
        if one.flat == along_x:
            parts += [part for part in (one.lo, one.hi) if part is not None]
    parts += [[rule.at] for panel in drawing.panels for rule in panel.rules if rule.vertical == along_x]
    return np.concatenate(parts)


def _scale(drawing, axis, scale, along_x):
    if scale.names is not None:
        return
    values = _extent(drawing, along_x)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return
    if axis.scale == LOG and finite.min() >= 0 < finite.max():
        scale.kind = "log"
    elif axis.scale == CHOSEN:
        scale.kind, scale.linear = chosen_scale(values)
    if axis.lo is not None and axis.hi is not None and finite.min() >= axis.lo and finite.max() <= axis.hi:
        # A mark at an end is not cut in halves.
        margin = 0 if drawing.figure.marks == BARS else 0.02 * (axis.hi - axis.lo)
        scale.lo = axis.lo - (margin if finite.min() < axis.lo + margin else 0)
        scale.hi = axis.hi + (margin if finite.max() > axis.hi - margin else 0)


def _is_blank(drawing):
    if drawing.cells:
        return drawing.cells.filled == 0
    ranges = drawing.figure.marks == RANGES
    return not any(np.isfinite(one.y).any() and (not ranges or np.isfinite(one.lo).any())
                   for one in drawing.series())


def _title(figure, rows):
    parts = [figure.subject(rows)] if figure.subject else []
    return ": ".join(parts + ([figure.title] if figure.title else []))


def build(figure, rows):
    """The drawing of a record for some rows; None where there is nothing finite to draw."""
    every, rows = rows, known(figure, rows)
    if figure.last and np.isfinite(rows.numbers(figure.last)).any():
        last = rows.numbers(figure.last)
        rows = rows.pick(last == np.nanmax(last[np.isfinite(last)]))
    x_column = figure.x.column
    if figure.x.otherwise and not rows.has_several(x_column) and rows.has_several(figure.x.otherwise):
        x_column = figure.x.otherwise
    drawing = Drawing(figure, rows, _title(figure, rows), Scale(_label(figure.x, x_column, rows.table)),
                      Scale(_label(figure.y, figure.y.column, rows.table)), [], sources=[rows], width=figure.width,
                      height=figure.height, x_column=x_column, unknown=every.pick(_is_lost(figure.known, every)))
    if figure.marks == CELLS:
        _fill_cells(drawing)
    else:
        _fill_panels(drawing)
    _place_rules(drawing)
    if figure.prepare:
        figure.prepare(drawing)
        figure = drawing.figure  # it may set other axes
    if _is_blank(drawing):
        return None
    _name_only_panel(drawing)
    _scale(drawing, figure.x, drawing.x, True)
    _scale(drawing, figure.y, drawing.y, False)
    if len(drawing.panels) == 1 and drawing.width is None and max(map(len, drawing.y.names or [""])) > LONG:
        drawing.width = WIDE
    drawing.caption = caption(drawing)
    found = figure.finding(drawing) if figure.finding else []
    drawing.findings = [found] if isinstance(found, str) else list(found or [])
    return drawing


def _label(axis, column, table):
    return axis.label or (labels.axis(column, table) if column else None)


def _fill_panels(drawing):
    figure, rows = drawing.figure, drawing.rows
    places = _Places(figure.x, drawing.x_column, rows), _Places(figure.y, figure.y.column, rows)
    drawing.x.names, drawing.y.names = (of.names for of in places)
    for group in rows.split(*figure.panel_by):
        panel = Panel(group, words.key(group, figure.panel_by) if figure.panel_by else None)
        drawing.panels.append(panel)
        lines = group.split_by(figure.series_key(group)) if figure.series_key else group.split(*figure.series_by)
        for line in lines:
            for column in figure.columns or (None,):
                kept = line.filled(column.column) if column else line
                if len(kept):
                    _take_series(drawing, panel, kept, column, places)
        if figure.outliers:
            mark_outliers(drawing, panel)
    _tell_apart(drawing)
    _colour_by_name(drawing)
    _hide_rest(drawing)
    if figure.hover and figure.values == EACH:
        for one in drawing.series():
            one.hover = [hover_text(figure, one.name, one.rows, i) for i in range(len(one.rows))]


def _hide_rest(drawing):
    """Takes out what the figure has no place for, names it, and keeps it for the sentences: panels beyond PANELS, and
    of each panel series beyond SERIES, but what stands out."""
    drawing.hidden = [one for panel in drawing.panels[PANELS:] for one in panel.series]
    drawing.left_out += [panel.name or "a panel without a name" for panel in drawing.panels[PANELS:]]
    del drawing.panels[PANELS:]
    for panel in drawing.panels:
        if len(panel.series) <= SERIES:
            continue
        first = sorted(range(len(panel.series)), key=lambda i: not panel.series[i].stands_out)[:SERIES]
        hidden = [one for i, one in enumerate(panel.series) if i not in set(first)]
        panel.series = [panel.series[i] for i in sorted(first)]
        drawing.hidden += hidden
        drawing.left_out += [", ".join(filter(None, (panel.name, one.name))) or "a series without a name"
                             for one in hidden]
        grey = [one for one in panel.series if one.entry]
        if grey and not drawing.figure.panel_by:
            grey[0].entry = f"{sum(one.colour == 'muted' for one in panel.series)} others"


def _tell_apart(drawing):
    """Names that were cut at their ends are cut where they differ."""
    figure = drawing.figure
    names = words.apart([words.key(panel.rows, figure.panel_by, WHOLE) for panel in drawing.panels])
    for panel, name in zip(drawing.panels, names):
        panel.name = name if figure.panel_by else None
    if figure.series_name or not figure.series_by:
        return
    mine = [one for one in drawing.series() if one.column is None]
    for one, name in zip(mine, words.apart([words.key(one.rows, figure.series_by, WHOLE) for one in mine])):
        one.name = name or None


def _colour_by_name(drawing):
    """Series of one name have one colour in every panel."""
    index = {}
    for one in drawing.series():
        if one.column is None and not one.stands_out and not isinstance(one.colour, str):
            one.colour = index.setdefault(one.name, len(index))


def _name_only_panel(drawing):
    """The title has the name of the only panel, where it does not say it anyway."""
    name = drawing.panels[0].name
    if len(drawing.panels) == 1 and name and name not in drawing.title:
        drawing.title += f", {name}"


# ---- Captions ----

def extreme(drawing, least=False):
    """The series whose greatest value is the greatest (the least) of all; None: none has a finite value."""
    found = [one for one in drawing.every() if np.isfinite(one.peak())]
    return (min if least else max)(found, key=Series.peak, default=None)


def outlier_heads(drawing):
    """"; heads that stand out: layer 0 head 2, layer 4 head 9"; nothing where none does."""
    return say_outliers((one.rows.number("layer"), one.rows.number("head")) for one in drawing.every() if one.stands_out)


def say_outliers(places):
    """The same of pairs of layer and head."""
    named = [f"layer {words.number(layer)} head {words.number(head)}" for layer, head in places
             if np.isfinite(layer) and np.isfinite(head)]
    text = "heads that stand out" if len(named) > 1 else "a head that stands out"
    return f"; {text}: {', '.join(named)}" if named else ""


def cell_place(drawing, at):
    """"layer 0, head 2" of a flat index into the cells."""
    cells, figure, table = drawing.cells, drawing.figure, drawing.rows.table
    row, column = divmod(int(at), len(cells.column_keys))
    return (f"{labels.words(figure.y.column, table)} {words.number(cells.row_keys[row])}, "
            f"{labels.words(figure.x.column, table)} {words.number(cells.column_keys[column])}")


def _describe_cells(drawing):
    value = drawing.cells.value
    most, least = np.nanargmax(value), np.nanargmin(value)
    if np.isfinite(value).sum() == 1:
        return f"The only value, {words.number(value.flat[most])}, is that of {cell_place(drawing, most)}."
    return (f"Greatest {words.number(value.flat[most])} at {cell_place(drawing, most)}; least "
            f"{words.number(value.flat[least])} at {cell_place(drawing, least)}; mean "
            f"{words.number(np.nanmean(value))}.")


def _series_place(drawing, one):
    parts = [words.key(one.rows, drawing.figure.panel_by), one.name or ""]
    return ", ".join(part for part in parts if part)


def _say_x(drawing, one):
    """", at training step 30": where the series is greatest; nothing where places count only the rows."""
    at = one.x[int(np.nanargmax(np.where(np.isfinite(one.y), one.y, np.nan)))]
    if not drawing.x_column or drawing.x.names is not None or not np.isfinite(at):
        return ""
    return f", at {labels.words(drawing.x_column, drawing.rows.table)} {words.number(at)}"


def caption_of_series(drawing):
    """Between which ends the greatest values of all series lie."""
    most, least = extreme(drawing), extreme(drawing, least=True)
    if most is None:
        return "Nothing finite to draw."
    if most is least:
        return f"The greatest value is {words.number(most.peak())}{_say_x(drawing, most)}."
    ends = [f"{words.number(one.peak())} ({_series_place(drawing, one) or 'without a name'})" for one in (least, most)]
    return f"The greatest value of each series lies between {ends[0]} and {ends[1]}."


def caption(drawing):
    """The record's sentences, or those about the greatest and the least value; and what is not drawn."""
    if drawing.figure.caption:
        text = drawing.figure.caption(drawing)
    else:
        text = _describe_cells(drawing) if drawing.cells else caption_of_series(drawing)
    return text + unplaced.say(drawing)


# ---- A section's figures ----

class _Candidate:
    def __init__(self, figure, rows, order):
        self.figure, self.rows, self.order = figure, rows, order
        self.group, self.rank, self.chosen = tuple(rows.key(column) for column in figure.group_by), 0, False


def filtered(figure, rows):
    """The rows that the record is about."""
    if figure.where:
        rows = rows.where(figure.where[0], *figure.where[1:])
    return rows.pick(np.asarray(figure.keeps(rows), bool)) if figure.keeps and len(rows) else rows


def known(figure, rows):
    """The rows that have the numbers which the record needs."""
    for column in figure.known:
        rows = rows.known(column)
    return rows


def _is_lost(columns, rows):
    """Where one of these numbers is written and not finite."""
    return np.any([rows.is_infinite(column) for column in columns], axis=0) if columns else np.zeros(len(rows), bool)


def _say_blank(figure, rows):
    """Why a figure with nothing finite is not there; None: its cells are empty."""
    columns = [figure.y.column, figure.value, *figure.known, *(of.column for of in figure.columns)]
    lost = int(_is_lost(list(filter(None, columns)), rows).sum())
    if not lost:
        return None
    count = words.count(lost, "value that is", "values that are")
    return Paragraph(f"Not drawn: {_named(figure, rows)}: {count} not finite, and no other.", sources=[rows])


def _candidates(figure, tables, blocks, skipped):
    for name in figure.tables:
        rows = tables.rows(name)
        if not len(rows) or (figure.only and not rows.has(figure.only)):
            continue
        missing = next((c for c in figure.needs if not rows.has(c) or rows.is_text(c)), None)
        if missing:
            if figure.undone:
                blocks.append(Paragraph(f"The table {name} has no column of numbers {missing}: {figure.undone}.",
                                        sources=[rows]))
            continue
        rows = filtered(figure, rows)
        groups = rows.split_by(figure.figure_key(rows)) if figure.figure_key else rows.split(*figure.figure_by)
        for group in groups:
            if not len(known(figure, group)):
                blocks += filter(None, [_say_blank(figure, group)])
                continue
            if figure.skips and figure.skips(known(figure, group)):
                if figure.skipped:
                    skipped.append((figure, group))
                continue
            yield figure, group


def _choose(candidates, most):
    """Every group gets a figure before any gets a second; rows for readers have a limit of their own."""
    ranks, used = {}, {}
    for one in candidates:
        one.rank = ranks[one.group] = ranks.get(one.group, -1) + 1
    for one in sorted(candidates, key=lambda one: (one.rank, one.order)):
        is_rows = one.figure.marks == ROWS
        limit = one.figure.most or (ROWS_SHOWN if is_rows else np.inf)
        drawn = used.get(one.figure.id, 0)
        one.chosen = drawn < limit and (is_rows or most > 0)
        if one.chosen:
            used[one.figure.id] = drawn + 1
            most -= not is_rows


def _named(figure, rows):
    return figure.subject(rows) if figure.subject else figure.title or rows.table


def _say_rest(candidates, skipped):
    if skipped:
        names = [_named(figure, rows) for figure, rows in skipped]
        more = f"; and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield Paragraph(f"Not drawn, because {skipped[-1][0].skipped}: {'; '.join(names[:NAMED])}{more}.")
    left = [one for one in candidates if not one.chosen]
    if left:
        groups = list({one.group or id(one): _named(one.figure, one.rows) for one in left}.values())
        among = ", among them those of" if len(groups) > NAMED or len(groups) < len(left) else ":"
        count = words.count(len(left), "more figure is", "more figures are")
        yield Paragraph(f"Not drawn: {count} left out{among} {'; '.join(groups[:NAMED])}.",
                        sources=list({one.rows.table: one.rows for one in left}.values()))


def _keep_first_finding(blocks):
    """The drawings of a section are alike: what the first one shows is the finding."""
    found = [block for block in blocks if isinstance(block, Drawing) and block.findings]
    for block in found[1:]:
        block.findings = []


def compose(figures, tables, most):
    """Blocks for these records: at most `most` drawings, and what is left out by name."""
    blocks, skipped = [], []
    candidates = [_Candidate(figure, rows, i) for i, (figure, rows) in enumerate(
        pair for figure in figures for pair in _candidates(figure, tables, blocks, skipped))]
    _choose(candidates, most)
    for figure in figures:
        chosen = [one for one in candidates if one.chosen and one.figure is figure]
        if chosen and figure.heading:
            blocks.append(Heading(figure.heading))
        for one in chosen:
            block = Listing(one.rows, figure.shown) if figure.marks == ROWS else (
                build(figure, one.rows) or _say_blank(figure, one.rows))
            if block is not None:
                blocks.append(block)
    _keep_first_finding(blocks)
    return blocks + list(_say_rest(candidates, skipped))


@np.errstate(all="ignore")  # a quotient or mean beyond doubles is infinite or no number, as a figure shows
def section_blocks(section, tables):
    """What a section has to say and to show, in order."""
    blocks = [Paragraph(section.intro, formulas=True)] if section.intro else []
    if section.compose:
        return blocks + list(section.compose(section, tables))
    return blocks + compose(section.figures, tables, section.most)
