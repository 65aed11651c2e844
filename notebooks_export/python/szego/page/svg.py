"""A drawing as inline SVG: Matplotlib's ink, and over it the places that answer to a pointer.

Matplotlib names artists and not points, and drops points that are NaN. So each mark's place, its <title> and its head
come from the drawing's numbers through the axes' transform. No colour is literal but those of heat maps: the style
sheet has each by name, for light and dark pages.
"""
import io
import re
import xml.etree.ElementTree as ElementTree

import matplotlib
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from ..figures import colours, draw, words
from ..figures.drawing import ENTRIES, legend, look, looks, rules
from ..markup import visible
from .text import width

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
DPI = 72  # of SVG: the figure's units are points, which a page shows as 4/3 pixels
#: Places that answer, of a figure's lines and clouds together, and of one at least and at most; points apart.
FIGURE_HITS, LEAST_HITS, MOST_HITS, FEW, APART, RADIUS = 160, 12, 60, 30, 6.0, 4.5
LINE_HEIGHT, ENTRY_CHARACTERS = 13.5, 48
_COLOUR = re.compile("#[0-9a-fA-F]{6}")
_NAMES = {colour: name for name, colour in reversed(colours.NAMED.items())}
_DECIMALS = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_FONT = re.compile(r"font: ([\d.]+)px [^;]*")


def _element(parent, tag, text=None, **attributes):
    made = ElementTree.SubElement(parent, f"{{{SVG}}}{tag}")
    for name, value in attributes.items():
        if value is not None:
            made.set(name.rstrip("_").replace("_", "-"), f"{value:.2f}".rstrip("0").rstrip(".")
                     if isinstance(value, float) else str(value))
    if text is not None:
        made.text = visible(text)
    return made


def _title(parent, text):
    _element(parent, "title", text)


# ---- Ink ----

def _save(figure, salt):
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return ElementTree.fromstring(out.getvalue())


def _recolour(style):
    """Colours by name: the style sheet has them."""
    def named(found):
        name = _NAMES.get(found.group().lower())
        return f"var({_variable(name)})" if name else found.group()
    return _COLOUR.sub(named, style)


def _variable(name):
    """The style sheet's name of a colour."""
    return f"--{name}" if name in colours.SERIES_NAMES else f"--fig-{name}"


def style_sheet():
    """The colours as variables, and a class for each that marks may have. page.css says which of --light and --dark
    is empty."""
    variables = [f"  {_variable(name)}: var(--light, {light}) var(--dark, {colours.DARK[name]});"
                 for name, light in colours.NAMED.items()]
    marks = dict.fromkeys([*colours.SERIES_NAMES, *colours.ROLES.values()])
    classes = [f"svg.figure .{name} {{ --series: var({_variable(name)}); }}" for name in marks]
    return "\n".join([":root {", *variables, "}", *classes, ""])


def _rounded(text):
    """Numbers with two decimals: a hundredth of a point is not seen."""
    return _DECIMALS.sub(lambda found: f"{float(found.group()):.2f}".rstrip("0").rstrip("."), " ".join(text.split()))


def _clean(root, prefix):
    """Ids carry the figure's prefix; metadata, empty groups and fonts go; colours are named."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith("}metadata") or (child.tag.endswith("}defs") and not len(child)):
                parent.remove(child)
            elif child.tag.endswith("}style"):
                parent.remove(child)
    for one in root.iter():
        if one.get("id"):
            one.set("id", f"{prefix}-{one.get('id')}")
        for name, value in list(one.attrib.items()):
            if name in (f"{{{XLINK}}}href", "href"):
                del one.attrib[name]
                one.set("href", f"#{prefix}-{value[1:]}" if value.startswith("#") else value)
            elif "url(#" in value:
                one.set(name, value.replace("url(#", f"url(#{prefix}-"))
        for name in ("d", "x", "y", "transform"):
            if one.get(name):
                one.set(name, _rounded(one.get(name)))
        if (one.get("transform") or "").startswith("rotate(-0 "):
            del one.attrib["transform"]
        if not one.tag.endswith(("}text", "}tspan")):
            one.text = None
        one.tail = None
        if one.tag.endswith("}image"):
            one.set("style", "image-rendering: pixelated")
        style = one.get("style")
        if style:
            one.set("style", _recolour(_FONT.sub(r"font-size: \1px", style)))
        elif one.tag.endswith(("}text", "}tspan")):
            one.set("style", "fill: var(--fig-ink)")
    for one in root.iter():
        if one.tag == f"{{{SVG}}}g" and one.get("id") and not _named(one.get("id"), prefix):
            del one.attrib["id"]


def _named(identity, prefix):
    """A group that something refers to."""
    return identity.startswith(f"{prefix}-ink-")


# ---- Places that answer ----

def _hover(drawing, one, marks, k):
    """What a mark says: its own text, or its name and coordinates."""
    i = int(marks.index[k])
    if one.hover is not None and one.hover[i]:
        return one.hover[i]
    x = drawing.x.names[int(round(one.x[i]))] if drawing.x.names is not None else words.exact(_six(one.x[i]))
    y = drawing.y.names[int(round(one.y[i]))] if drawing.y.names is not None else words.exact(_six(one.y[i]))
    lines = [one.name] if one.name else []
    lines += [f"{drawing.x.label or 'x'}: {x}", f"{drawing.y.label or 'y'}: {y}"]
    if one.lo is not None and one.hi is not None and np.isfinite(one.lo[i]) and np.isfinite(one.hi[i]):
        lines.append(f"{words.number(one.lo[i])} to {words.number(one.hi[i])}")
    return "\n".join(lines)


def _six(value):
    return float(f"{value:.6g}")


def _head(one, i):
    return one.head[i] if isinstance(one.head, (list, np.ndarray)) else one.head


def _places(axis, marks, height):
    """SVG coordinates of the marks."""
    at = axis.transData.transform(np.stack([marks.x, marks.y], axis=1)) if len(marks.x) else np.zeros((0, 2))
    return at[:, 0], height - at[:, 1]


def _inside(axis, x, y, height):
    box = axis.bbox
    return (x >= box.x0 - 1) & (x <= box.x1 + 1) & (height - y >= box.y0 - 1) & (height - y <= box.y1 + 1)


def _spread(x, y, most, first):
    """Places that a pointer can tell apart, at most so many; `first` are never left out for a neighbour."""
    order = np.concatenate([first, np.setdiff1d(np.arange(len(x)), first, assume_unique=True)]).astype(int)
    apart = 0.0 if len(x) <= FEW else APART
    while True:
        kept = []
        for i in order:
            if all(np.hypot(x[i] - x[k], y[i] - y[k]) >= apart for k in kept):
                kept.append(i)
            if len(kept) > most:
                break
        if len(kept) <= most:
            return sorted(kept)
        apart = max(1.4 * apart, APART)


def _hits(parent, drawing, axis, marks, height, most):
    one = marks.series
    x, y = _places(axis, marks, height)
    kept = np.flatnonzero(np.isfinite(x) & np.isfinite(y) & _inside(axis, x, y, height))
    if not len(kept):
        return
    # The extreme points of the data, which the thinned marks have kept.
    ends = list(dict.fromkeys(int(of(at[kept])) for at in (y, x) for of in (np.argmin, np.argmax)))
    group = _element(parent, "g", class_="hits")
    for k in _spread(x[kept], y[kept], most, np.array(ends)):
        k = int(kept[k])
        head = _head(one, int(marks.index[k])) if isinstance(one.head, (list, np.ndarray)) else None
        _title(_element(group, "circle", cx=float(x[k]), cy=float(y[k]), r=RADIUS, data_head=head),
               _hover(drawing, one, marks, k))


def _box(axis, box, height):
    (x0, y0), (x1, y1) = axis.transData.transform([box[:2], box[2:]])
    x0, x1 = sorted(np.clip((x0, x1), axis.bbox.x0, axis.bbox.x1))
    y0, y1 = sorted(np.clip((height - y0, height - y1), height - axis.bbox.y1, height - axis.bbox.y0))
    return {"x": float(x0), "y": float(y0), "width": float(max(x1 - x0, 1.5)), "height": float(max(y1 - y0, 1.5))}


def _rectangles(parent, drawing, axis, marks, height):
    one = marks.series
    for k, box in enumerate(marks.boxes):
        rect = _element(parent, "rect", class_="mark", data_head=_head(one, int(marks.index[k])),
                        **_box(axis, box, height))
        _title(rect, _hover(drawing, one, marks, k))


def _cells(parent, drawing, axis, marks, height):
    cells, figure = marks.series, drawing.figure
    group = _element(parent, "g", class_="cells")
    for k, box in enumerate(marks.boxes):
        if cells.areas is None:
            row, column = divmod(k, len(cells.column_keys))
            value = cells.value[row, column]
            within = ", within chance" if cells.grey is not None and cells.grey[row, column] else ""
            text = (f"{drawing.y.label} {cells.row_names[row]}, {drawing.x.label} {cells.column_names[column]}\n"
                    f"{cells.label}: {words.exact(_six(value)) if np.isfinite(value) else 'empty'}{within}")
        else:
            row, column, _, text = cells.areas[k]
        rect = _element(group, "rect", class_="mark", **_box(axis, box, height),
                        data_head=None if cells.heads is None else cells.heads[row, column])
        _title(rect, text)
    return figure


_CLASSES = {"line": "line", "points": "points crowd", "bars": "bars", "ranges": "bars ranges", "violins": "violin"}


def _overlay(root, drawing, drawn, height):
    """A group a series, with what answers in it; the same data-series as its ink and its entry of the legend."""
    lines = sum(marks.boxes is None for panel in drawn.marks for marks in panel)
    most = int(np.clip(FIGURE_HITS // max(lines, 1), LEAST_HITS, MOST_HITS))
    over = _element(root, "g", class_="over")
    for panel, axis, all_marks in zip(drawing.panels, drawn.axes, drawn.marks):
        for rule in rules(drawing, panel):
            _rule(over, drawing, axis, rule, height)
        for marks in all_marks:
            if panel.cells is not None:
                _cells(over, drawing, axis, marks, height)
                continue
            one = marks.series
            head = None if isinstance(one.head, (list, np.ndarray)) else one.head
            group = _element(over, "g", class_=f"{_CLASSES[one.marks]} {colours.name(one.colour)}", data_head=head,
                             data_series=_series_number(drawing, one), data_name=one.name)
            if marks.boxes is not None:
                _rectangles(group, drawing, axis, marks, height)
            else:
                _hits(group, drawing, axis, marks, height, most)


def _rule(over, drawing, axis, rule, height):
    if rule.vertical:
        (x, _), (y0, y1) = axis.transData.transform((rule.at, 1.0)), axis.bbox.intervaly
        path = f"M{x:.2f} {height - y0:.2f}V{height - y1:.2f}"
    else:
        (_, y), (x0, x1) = axis.transData.transform((1.0, rule.at)), axis.bbox.intervalx
        path = f"M{x0:.2f} {height - y:.2f}H{x1:.2f}"
    group = _element(over, "g", class_=f"rule {colours.name(rule.colour)}", data_series=_series_number(drawing, rule))
    _title(_element(group, "path", class_="mark", d=path), f"{rule.name or 'value'}: {words.exact(_six(rule.at))}")


# ---- The legend ----

def _series_number(drawing, one):
    """Series of one name and look are one entry: their place among the looks."""
    if not hasattr(drawing, "look_numbers"):
        drawing.look_numbers = {key: i for i, key in enumerate(looks(drawing))}
    return drawing.look_numbers[look(one)]


def _entries(drawing):
    """(number, label, series or rule) of what the legend lists."""
    entries = legend(drawing)[:ENTRIES]
    labels = words.apart([label for label, _ in entries], ENTRY_CHARACTERS)
    return [(_series_number(drawing, one), label, one) for label, (_, one) in zip(labels, entries)]


def _rows_of_entries(entries, across):
    """Entries in rows as wide as the figure: [(x, row, number, label, one)], and how many rows."""
    x, row, placed = 4.0, 0, []
    for number, label, one in entries:
        wide = 24 + 5.0 * width(label) + 12
        if x > 4 and x + wide > across:
            x, row = 4.0, row + 1
        placed.append((x, row, wide, number, label, one))
        x += wide
    return placed, (row + 1 if placed else 0)


def _swatch(entry, one, x, y):
    kind = getattr(one, "marks", "rule")
    colour = f"var({_variable(colours.name(one.colour))})"
    look = {"style": f"stroke: {colour}; fill: {colour}"}
    if kind in ("bars", "ranges") or getattr(one, "is_band", False):
        _element(entry, "path", class_="swatch area", d=f"M{x:.1f} {y - 4:.1f}h18v8h-18z", **look)
        return
    if kind not in ("points", "violins"):
        dash = (0, (5, 3)) if kind == "rule" else draw.dash(one)
        _element(entry, "path", class_="swatch stroke", d=f"M{x:.1f} {y:.1f}h18",
                 stroke_dasharray=None if dash == "-" else " ".join(map(str, dash[1])), **look)
    if kind != "rule" and draw.marker(one):
        marker = matplotlib.markers.MarkerStyle(draw.marker(one))
        path = marker.get_path().transformed(marker.get_transform())
        points = [f"{x + 9 + 5 * px:.1f} {y - 5 * py:.1f}" for px, py in path.to_polygons()[0]]
        _element(entry, "path", class_="swatch", d="M" + "L".join(points) + "z", **look)


def _legend(root, drawing, top, across):
    placed, _ = _rows_of_entries(_entries(drawing), across)
    for x, row, wide, number, label, one in placed:
        y = top + LINE_HEIGHT * (row + 0.5)
        entry = _element(root, "g", class_="entry", data_series=number,
                         data_head=one.head if isinstance(getattr(one, "head", None), str) else None)
        _element(entry, "path", class_="room", d=f"M{x - 3:.1f} {y - 6:.1f}h{wide - 6:.1f}v12H{x - 3:.1f}z")
        _swatch(entry, one, x, y)
        text = _element(entry, "text", label, x=x + 22, y=y + 3)
        _title(text, getattr(one, "entry", None) or one.name)


# ---- The whole ----

def _name_ink(drawing, drawn):
    """Gives each series' artists a name, so that the legend hides its ink too."""
    for all_marks in drawn.marks:
        for marks in all_marks:
            for artist in marks.artists if hasattr(marks.series, "marks") else ():
                for one in getattr(artist, "patches", [artist]):
                    one.set_gid(f"ink-{_series_number(drawing, marks.series)}")


def _class_ink(root, drawing, prefix):
    heads = {}
    for one in looks(drawing).values():
        if isinstance(getattr(one, "head", None), str):
            heads[_series_number(drawing, one)] = one.head
    for group in root.iter(f"{{{SVG}}}g"):
        identity = group.get("id") or ""
        if _named(identity, prefix):
            number = int(identity.rsplit("-", 1)[1])
            group.set("class", "ink mark")
            group.set("data-series", str(number))
            if number in heads:
                group.set("data-head", heads[number])
            del group.attrib["id"]


def inline(drawing, prefix):
    """A dict of svg, marks, given and drawn (points); ids in the SVG begin with the prefix."""
    drawn = draw.draw(drawing, figure=lambda **options: Figure(dpi=DPI, **options), legend=False)
    FigureCanvasSVG(drawn.figure)
    _name_ink(drawing, drawn)
    root = _save(drawn.figure, prefix)
    wide, height = (float(value) for value in root.get("viewBox").split()[2:])
    _clean(root, prefix)
    _class_ink(root, drawing, prefix)
    _overlay(root, drawing, drawn, height)
    rows = _rows_of_entries(_entries(drawing), wide - 8)[1]
    _legend(root, drawing, height + 2, wide - 8)
    marks = sum("mark" in (one.get("class") or "").split() for one in root.iter())
    return {"svg": _printed(root, drawing, wide, height + (LINE_HEIGHT * rows + 6 if rows else 0), marks),
            "marks": marks, "given": drawn.given, "drawn": drawn.drawn}


def _printed(root, drawing, wide, full, marks):
    root.attrib.clear()
    for name, value in {"class": "figure drawn", "role": "img", "viewBox": f"0 0 {wide:g} {full:g}", "data-marks": str(marks),
                        "width": f"{wide * 4 / 3:g}", "height": f"{full * 4 / 3:g}",
                        "style": f"--width:{wide * 4 / 3:g}px; font-size: 8.4px"}.items():
        root.set(name, value)
    title, desc = ElementTree.Element(f"{{{SVG}}}title"), ElementTree.Element(f"{{{SVG}}}desc")
    title.text = visible(drawing.title or "figure")
    desc.text = visible(f"{drawing.y.label or 'y'} over {drawing.x.label or 'x'}; {marks} marks")
    root.insert(0, title)
    root.insert(1, desc)
    ElementTree.register_namespace("", SVG)
    return ElementTree.tostring(root, encoding="unicode")
