#!/usr/bin/python3
"""The colours of the page, light and dark: apart for every kind of colour vision, seen on the page, and on paper those of
the package's figures."""
import itertools
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "peer"))
from peer import PACKAGE, Tap, skip  # pylint: disable=wrong-import-position

sys.path.insert(0, PACKAGE)
try:
    import matplotlib
    import numpy as np
    from szego.figures import colours, compose, draw, rows
    from szego.figures.record import CELLS, Axis, Figure
    from szego.page import svg
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy and python3-matplotlib are needed")

ASSETS = os.path.join(PACKAGE, "szego", "page", "assets")
THEMES = "light", "dark"
#: Distance in CIELAB of two colours in one figure, and contrast of lines, letters and titles with the page (WCAG 2.1).
APART, LINES, LETTERS, INK = 15, 3, 4.5, 7
#: Full protanopia, deuteranopia and tritanopia: Machado, Oliveira and Fernandes (2009), table 1, of linear RGB.
VISIONS = {"usual": np.eye(3),
           "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
           "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
           "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]}
SRGB = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
WHITE = 0.95047, 1, 1.08883  # D65
tap = Tap()


# ---- Colours as eyes see them ----

def linear(colour):
    """Red, green and blue of "#rrggbb", or of three numbers, without gamma."""
    level = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)] if isinstance(colour, str) else colour
    return np.array([part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in level])


def lab(colour, vision):
    """L*, a*, b* (CIE 1976)."""
    xyz = SRGB @ np.clip(np.array(VISIONS[vision]) @ linear(colour), 0, 1) / WHITE
    x, y, z = (np.cbrt(t) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in xyz)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one, other, vision):
    return float(np.linalg.norm(lab(one, vision) - lab(other, vision)))


def contrast(one, other):
    a, b = (SRGB[1] @ linear(colour) + 0.05 for colour in (one, other))
    return max(a, b) / min(a, b)


# ---- The style sheets ----

def sheet(name):
    """An asset's text; "figures": what the page makes of figures/colours.py."""
    if name == "figures":
        return svg.style_sheet()
    with open(os.path.join(ASSETS, name), encoding="utf-8") as file:
        return file.read()


def variables(name, theme):
    """{name: colour} of "--NAME: var(--light, #...) var(--dark, #...);" and "--NAME: var(--OTHER);"."""
    found = dict(re.findall(rf"--([\w-]+):(?: [^;]*)? var\(--{theme}, (#[0-9a-f]{{6}})\)[^;]*;", sheet(name)))
    if name != "figures":
        of_figures = variables("figures", theme)
        found.update({mine: of_figures[its] for mine, its in re.findall(r"--([\w-]+): var\(--(fig-\w+)\);", sheet(name))})
    return found


def in_one_figure():
    """Pairs of names: any two series; what roles and grey stand beside."""
    series = list(colours.SERIES_NAMES)
    yield from itertools.combinations(series, 2)
    yield from itertools.product(["fig-fails"], ["c0", "c1", "c2", "fig-muted"])
    yield from itertools.product(["fig-muted"], series)
    yield "fig-coupled", "fig-content"
    yield "fig-holds", "fig-fails"
    yield from itertools.product(["fig-coupled", "fig-content"], [*series, "fig-muted", "fig-fails"])
    yield from itertools.product(["fig-certified"], [*series, "fig-muted"])


def series_are_apart_and_seen():
    for theme in THEMES:
        css = variables("figures", theme)
        near = [f"{one} and {other}, {vision}: {distance(css[one], css[other], vision):.1f}"
                for one, other in in_one_figure() for vision in VISIONS
                if not distance(css[one], css[other], vision) >= APART]
        tap.ok(f"{theme}: colours of one figure are {APART} apart", not near, "; ".join(near))
        pale = [f"{name}: {contrast(css[name], css['fig-page']):.2f}" for name, least in
                [(name, LINES) for name in (*colours.SERIES_NAMES, "fig-muted", "fig-fails", "fig-coupled", "fig-content", "fig-holds", "fig-certified")] +
                [("fig-quiet", LETTERS), ("fig-ink", INK)] if not contrast(css[name], css["fig-page"]) >= least]
        tap.ok(f"{theme}: they are seen on the page", not pale, "; ".join(pale))


def paper_has_the_light_ones():
    css = variables("figures", "light")
    named = {name if name in colours.SERIES_NAMES else f"fig-{name}": colour for name, colour in colours.NAMED.items()}
    wrong = [f"{name}: {colour} {css.get(name)}" for name, colour in named.items() if css.get(name) != colour]
    tap.ok("figures of the package have the light page's colours", not wrong, "; ".join(wrong))
    tap.ok("no role has a colour of series", not set(colours.ROLES.values()) & set(colours.SERIES_NAMES))
    tap.ok("every colour has a name of its own", len(set(colours.NAMED.values())) == len(colours.NAMED))
    tap.ok("what is certified is not grey", colours.of("certified") != colours.of("unknown"))


def no_colour_is_written_twice():
    """A style sheet has none of those that figures have."""
    known = {colour for palette in (colours.NAMED, colours.DARK) for colour in palette.values()}
    for name in "page.css", "figure.css":
        twice = known & set(re.findall("#[0-9a-f]{6}", sheet(name)))
        tap.ok(f"{name} repeats no colour of figures", not twice, " ".join(sorted(twice)))


def letters_are_readable():
    """On everything that they stand on: 4.5 to 1 (WCAG 2.1, 1.4.3, level AA)."""
    for theme in THEMES:
        css = variables("page.css", theme)
        pairs = [*itertools.product(("ink", "quiet", "link", "holds", "fails", "conditional", "warn"), ("page", "panel")),
                 ("ink", "warn-page"), ("link", "warn-page")]
        wrong = [f"{one} on {other}" for one, other in pairs if not contrast(css[one], css[other]) >= LETTERS]
        tap.ok(f"{theme}: letters are readable", not wrong, ", ".join(wrong))
        figure = variables("figures", theme)
        tap.ok(f"{theme}: a figure stands on the page", figure["fig-page"] == css["page"])


def heat_maps_are_ordered():
    """Lightness orders the colours of cells for every vision; the two hues of a middle are told apart."""
    one_way, two_ways = (matplotlib.colormaps[name] for name in (draw.SEQUENTIAL, draw.DIVERGING))
    for vision in VISIONS:
        lightness = [lab(one_way(i / 64)[:3], vision)[0] for i in range(65)]
        tap.ok(f"{vision}: the greater the lighter", all(np.diff(lightness) > 0))
        for side in (-1, 1):
            lightness = [lab(two_ways(0.5 + side * i / 64)[:3], vision)[0] for i in range(33)]
            tap.ok(f"{vision}: the farther from the middle the darker", all(np.diff(lightness) < 0.5) and
                   lightness[-1] < lightness[0] - 40)
        tap.ok(f"{vision}: the hues are apart", all(distance(two_ways(0.5 - i / 64)[:3], two_ways(0.5 + i / 64)[:3], vision)
                                                    >= APART for i in range(8, 33)))


def letters_in_cells_keep_their_colours():
    """A cell's colour is that of the heat map on a dark page, too."""
    table = {"x": np.arange(9) % 3, "y": np.arange(9) // 3, "value": np.linspace(0, 1, 9)}
    one = compose.build(Figure("f", ("t",), marks=CELLS, x=Axis("x"), y=Axis("y"), value="value"),
                        rows.Tables({"t": table}).rows("t"))
    ink = svg.inline(one, "p")["svg"]
    texts = re.findall(r"<text style=\"([^\"]*)\"[^>]*>([^<]*)</text>", ink)
    fills = [(text, re.search(r"fill: (#[0-9a-f]{6})", style)) for style, text in texts]
    cells = {float(text): fill[1] for text, fill in fills if fill}
    palette, wrong = matplotlib.colormaps[draw.SEQUENTIAL], []
    for value in table["value"]:
        fill = next((found for shown, found in cells.items() if abs(shown - value) < 0.006), None)
        if not fill or contrast(fill, palette(value)[:3]) < 4:
            wrong.append(f"{value:.3f}: {fill}")
    tap.ok("letters in cells have literal colours that are read there", not wrong, f"{wrong} {cells}")


series_are_apart_and_seen()
paper_has_the_light_ones()
no_colour_is_written_twice()
letters_are_readable()
letters_in_cells_keep_their_colours()
heat_maps_are_ordered()
tap.finish()
