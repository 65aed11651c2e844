#!/usr/bin/python3
"""Formulas in prose as MathML: the cases that the C program's forms are tested with, and random ones."""
import os
import random
import sys
import xml.etree.ElementTree

from peer import PACKAGE, Tap

sys.path.insert(0, PACKAGE)
from szego.page import formula, text  # pylint: disable=wrong-import-position

SEED = int(os.environ.get("SZG_TEST_SEED", "0"))
DATA = os.environ["SZG_TEST_DATA"]
PARTS = ["theta", "W", "_", "^", "{", "}", "o", " ", "<", "&", "ij", "2", "sum", "Ebar", "|", "(", ")", "...", "<=", "\\",
         "word", "'", "bar", '"']
tap = Tap()


def cases():
    with open(os.path.join(DATA, "formulas.tsv"), encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file][1:]
    wrong = [source for source, _, mathml in lines if str(text.prose(source)) != mathml]
    tap.ok(f"{len(lines)} cases", len(lines) > 8 and not wrong, str(wrong))


def texts_that_are_none():
    for same in ("", "theta_t <= 1".replace("<", ""), "a ` alone", "``", "`\tx`", "`é`"):
        tap.ok(f"{same!r} is prose", str(text.prose(same)) == same, str(text.prose(same)))
    longer = "`" + "x" * 257 + "`"
    tap.ok("257 characters are prose", str(text.prose(longer)) == longer)
    for broken in ("x_{i", "x_", "x_ y", "x^", "a_{b_{c_{d_{e_{f_{g_{h_{i}}}}}}}}", "<x_"):
        tap.ok(f"{broken} is its source", str(text.prose(f"`{broken}`")) == formula.escaped(broken))


def random_ones_are_well_formed():
    chance, wrong = random.Random(SEED), []
    for _ in range(4000):
        source = "".join(chance.choice(PARTS) for _ in range(chance.randrange(1, 15)))
        try:
            xml.etree.ElementTree.fromstring(f"<p>{text.prose(f'`{source}`')}</p>")
        except xml.etree.ElementTree.ParseError:
            wrong.append(source)
    tap.ok(f"random ones are well formed, seed {SEED}", not wrong, str(wrong[:5]))


cases()
texts_that_are_none()
random_ones_are_well_formed()
tap.finish()
