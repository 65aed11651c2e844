#!/usr/bin/python3
"""Every section with tables of anything: columns missing, texts where numbers belong and the other way round, hostile
texts, extreme numbers, few rows and none. Nothing raises, and what is not drawn is said in words."""
import glob
import os
import re
import sys
import traceback
import warnings

from support import PACKAGE, SEED, chance, column, compose, draw, drawing, matplotlib, rows, tap

from szego import columns
from szego.figures import subjects

TEXTS = ["", "test", "rope", "same_qk", "distance", "x" * 5000, "<b>&\"\n'", "$x_1$ `y`", "\u202e\x1b", "0.5", None]
NUMBERS = [0.0, -0.0, 5e-324, -1e-300, 0.5, 1.0, 3.0, 1e300, -1.7976931348623157e308, float("inf"), float("-inf"),
           float("nan"), None]
INTEGERS = [0, 1, 2, 5, -1, 2**53 + 1, 2**63 - 1, -(2**63) + 1, None]
OF_TYPE = {"text": TEXTS, "real": NUMBERS, "integer": INTEGERS}
TRIALS, DRAWN = 12, 40


def names():
    """The tables that sections look for."""
    found = {f"{command}_{table}" for command in ("spectrum", "verify") for table in columns.tables()}
    for path in glob.glob(os.path.join(PACKAGE, "szego", "figures", "*.py")):
        with open(path, encoding="utf-8") as file:
            found.update(re.findall(r'"([a-z]+_[a-z_0-9]+)"', file.read()))
    return sorted(name for name in found if name.partition("_")[2] in columns.tables())


def anything(name, spoilt):
    """A table of that name; spoilt: columns are missing, or of another type."""
    count, made = chance.choice([0, 1, 2, 24]), {"result": column([chance.choice(["a", "<b>"]) for _ in range(24)])}
    for one in columns.tables()[name.partition("_")[2]]["columns"]:
        kind = one["type"]
        if spoilt and chance.random() < 0.15:
            continue
        if spoilt and chance.random() < 0.15:
            kind = chance.choice(list(OF_TYPE))
        few = chance.sample(OF_TYPE[kind], chance.randrange(1, 5))
        made[one["name"]] = column([chance.choice(few) for _ in range(24)])
        if kind == "text" and made[one["name"]].dtype.kind != "O":  # every cell is empty
            made[one["name"]] = column([""] * 24)
    return {key: cells[:count] for key, cells in made.items()}


def check_sections():
    wrong, found = [], []
    for trial in range(TRIALS):
        made = rows.Tables({name: anything(name, trial % 3) for name in names()})
        for section in subjects.sections():
            if not section.present(made):
                continue
            try:
                found += [(section.id, one) for one in compose.section_blocks(section, made)]
            except Exception:  # pylint: disable=broad-except # the check shows it
                wrong.append((trial, section.id, traceback.format_exc()[-700:]))
    tap.ok(f"{len(subjects.sections())} sections of {len(names())} tables of anything", not wrong, str(wrong[:2]))
    said = [one.text for _, one in found if isinstance(one, drawing.Paragraph)]
    tap.ok("what is not drawn is said", sum("no column of numbers" in text for text in said) > 10, str(said[:5]))
    return [one for one in found if isinstance(one[1], drawing.Drawing)]


def check_subjects():
    """A subject that cannot be imported is no subject without figures."""
    kept = sys.modules.pop("szego.figures.rotary")
    sys.modules["szego.figures.rotary"] = None
    try:
        told = f"{len(subjects.sections())} sections"
    except ModuleNotFoundError as error:
        told = str(error)
    sys.modules["szego.figures.rotary"] = kept
    tap.ok("a subject whose import fails is told", "szego.figures.rotary" in told, told)


def check_drawings(found):
    wrong = []
    for section, one in chance.sample(found, min(DRAWN, len(found))):
        try:
            draw.draw(one)
        except Exception:  # pylint: disable=broad-except
            wrong.append((section, one.id, traceback.format_exc()[-700:]))
        matplotlib.pyplot.close("all")
    tap.ok(f"{DRAWN} of {len(found)} drawings, seed {SEED}", not wrong and len(found) > 2 * DRAWN, str(wrong[:2]))


warnings.simplefilter("error", RuntimeWarning)
check_drawings(check_sections())
check_subjects()
tap.finish()
