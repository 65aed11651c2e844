"""What the tests of figures share: tables from rows, and the drawings of a section."""
import os
import random
import sys

from peer import PACKAGE, Tap, skip

sys.path.insert(0, PACKAGE)
try:
    import matplotlib
    matplotlib.use("Agg")
    import numpy as np
    from szego.figures import compose, draw, drawing, rows
except ImportError as error:
    skip(f"{error}: Debian's python3-numpy and python3-matplotlib are needed")

SEED = int(os.environ.get("SZG_TEST_SEED", "0"))
print(f"# SZG_TEST_SEED={SEED}")
tap = Tap()
chance = random.Random(SEED)


def typed(text):
    """A text with the minus sign that numbers are read with."""
    return text.replace("\N{MINUS SIGN}", "-")


def column(cells):
    """A column as `szego.load` makes it: None is an empty cell."""
    empty = [cell is None for cell in cells]
    if any(isinstance(cell, str) for cell in cells):
        values = np.array(["" if cell is None else cell for cell in cells], object)
    elif all(cell is None or isinstance(cell, int) for cell in cells):
        values = np.array([np.iinfo(np.int64).min if cell is None else cell for cell in cells], np.int64)
    else:
        values = np.array([np.nan if cell is None else cell for cell in cells], float)
    return np.ma.MaskedArray(values, mask=empty) if any(empty) else values


def tables(**named):
    """Tables from lists of dicts of one row each."""
    return rows.Tables({name: {key: column([row.get(key) for row in made])
                               for key in dict.fromkeys(key for row in made for key in row)}
                        for name, made in named.items()})


def blocks(section, made):
    """The blocks of a section; each drawing was drawn, too."""
    found = list(compose.section_blocks(section, made))
    for one in found:
        if isinstance(one, drawing.Drawing):
            draw.draw(one)
            matplotlib.pyplot.close("all")
    return found


def drawings(section, made):
    return [one for one in blocks(section, made) if isinstance(one, drawing.Drawing)]


def found_in(section, **made):
    """The blocks of a section of these tables, and the drawings among them."""
    found = blocks(section, tables(**made))
    return found, [one for one in found if isinstance(one, drawing.Drawing)]


def texts_of(found, kind):
    return [one.text for one in found if isinstance(one, kind)]
