"""Certificates: two enclosed quantities, how they are related, and the exact inputs; and the curves of those that
refute Lemma B.1: f(t) = sum 2 w_i cos(i theta_i + i t), and g, which is f with every theta_i = 0."""
import decimal
import math
import shlex
from dataclasses import dataclass, replace
from functools import partial
from typing import Tuple

import numpy as np

from . import words
from .compose import add_series, build
from .drawing import Grid, Heading, Line, Paragraph
from .record import Axis, Figure

SHOWN, EXACT, NAME, NUMBERS, TOKEN, DIGITS = 50, 160, 40, 24, 64, 10
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def real(text):
    """A decimal or hexadecimal number in a text; NaN: it is none."""
    for parse in (float, float.fromhex):
        try:
            return parse(text)
        except (ValueError, OverflowError, TypeError):
            continue
    return math.nan


def _number(rows, column):
    return rows.number(column) if rows.text(column) is None else real(rows.text(column))


@dataclass(frozen=True)
class Sides:
    """The two certified quantities of a certificate, left and right; NaN where the file has no number."""
    lo: Tuple[float, float]
    hi: Tuple[float, float]
    name: Tuple[str, str]
    relation: str
    kind: str

    @classmethod
    def of(cls, rows):
        """Those of the first row."""
        return cls(*(tuple(_number(rows, f"{side}_{end}") for side in ("left", "right")) for end in ("lo", "hi")),
                   tuple(rows.text(side) or side for side in ("left", "right")), rows.text("relation") or "?",
                   rows.text("kind") or "")

    def agree(self):
        """Whether the enclosures show the relation: they do not meet, and lie as it says; for "=", they do meet."""
        if not (np.isfinite(self.lo + self.hi).all() and self.lo[0] <= self.hi[0] and self.lo[1] <= self.hi[1]):
            return False
        below, above = self.hi[0] < self.lo[1], self.lo[0] > self.hi[1]
        return {"<": below, ">": above, "!=": below or above, "=": not below and not above}.get(self.relation, False)

    def middle(self, side):
        return self.lo[side] / 2 + self.hi[side] / 2

    def __str__(self):
        """"max|f| > max|g|"."""
        return " ".join(_set(text) for text in (self.name[0], self.relation, self.name[1]))


def _set(name):
    """A quantity's name as mathematics: "2 Σw" of "2 sum w"."""
    return words.clipped(name.replace("theta_i", "θᵢ").replace("theta", "θ").replace("sum w", "Σw"), NAME)


# ---- The table ----

def _shows(sides):
    """What shows the relation: two enclosures that meet show no equality."""
    if not sides.agree():
        return ": the enclosures do not show this"
    if sides.relation != "=":
        return ""
    return {"exact": ": equality is decided exactly",
            "structural": ": equality has a proof (docs/explanation/theory.md)"}.get(
                sides.kind, ": the enclosures alone show no equality")


def _enclosures(rows):
    """The enclosures in decimals, rounded outwards; and the exact ends."""
    sides = Sides.of(rows)
    shown = [f"{words.clipped(sides.name[i], NAME)} in [{words.lower(sides.lo[i], DIGITS)}, "
             f"{words.upper(sides.hi[i], DIGITS)}]" for i in (0, 1)]
    ends = [" to ".join(words.clipped(rows.text(f"{side}_{end}") or words.exact(rows.number(f"{side}_{end}")), TOKEN)
                        for end in ("lo", "hi")) for side in ("left", "right")]
    return f"{shown[0]} {words.clipped(sides.relation, NAME)} {shown[1]}{_shows(sides)}", "; ".join(ends)


def _decimal(token):
    """A number, or a phase p/q of pi, for readers."""
    value = real(token)
    return (token if math.isnan(value) else words.signed(f"{value + 0.0:.10g}")) + (" \N{GREEK SMALL LETTER PI}" if "/" in token else "")


def _plain(token):
    """The decimal that is the number, where ten digits write it exactly; else the hexadecimal token."""
    value = real(token)
    if not math.isfinite(value):
        return token
    shown = f"{value + 0.0:.10g}"  # no sign of a zero
    return words.signed(shown) if decimal.Decimal(shown) == decimal.Decimal(value) else token


def _exact(text):
    """The numbers exactly, and in decimals where some are hexadecimal or phases."""
    tokens = (text or "").split()
    kept = [token for token in tokens[:NUMBERS] if len(token) < TOKEN]
    shown = " ".join(map(_plain, tokens))
    decimals = ", ".join(map(_decimal, kept)) + (f" {ELLIPSIS}" if len(kept) < len(tokens) else "")
    return words.clipped(shown, EXACT), decimals if shown != decimals.replace(",", "") else None


def _row(rows):
    n = rows.number("n")
    return (words.clipped(rows.text("kind"), EXACT), _enclosures(rows), "" if math.isnan(n) else words.exact(n),
            _exact(rows.text("weights")), _exact(rows.text("phases")), words.clipped(rows.text("note"), EXACT))


def _check(claim):
    """The command that recomputes them, as one line for a shell in the folder of the results."""
    result = claim.text("result")
    path = "certificates.csv" if result in (None, ".") else f"{result}/certificates.csv"
    return (f"In the folder of these results, this command rechecks them by separate code at twice the precision: "
            f"szego verify --check {shlex.quote(path)}")


def blocks(certificates, claim):
    """The certificates of a claim as a table, and the command that recomputes them."""
    shown = [certificates.pick([i]) for i in range(min(len(certificates), SHOWN))]
    yield Heading("Certificates")
    yield Grid(("certificate", "what it encloses", "n", "weights (exact)", "phases (exact)", "note"),
               [_row(rows) for rows in shown], (False, False, True, False, False, False), sources=[certificates])
    if len(certificates) > SHOWN:
        more = words.count(len(certificates) - SHOWN, "more certificate", "more certificates")
        yield Paragraph(f"And {more}, in the table {certificates.table}.")
    yield Paragraph(_check(claim))


# ---- Curves of counterexamples ----

def _certificate(certificates, samples):
    """The certificate that the first of the samples is of: a place among its claim's, in a column."""
    return certificates.pick([int(samples.number("certificate"))])


def _has_phases(certificate):
    """Phases that a certificate does not hold are no part of what it says: it is about g alone."""
    return bool(certificate.text("phases"))


def _prepare(certificates, drawing):
    for panel in drawing.panels:
        rows, certificate = panel.rows, _certificate(certificates, panel.rows)
        sides, f = Sides.of(certificate), panel.series[0]
        theta, g = rows.numbers("theta"), rows.numbers("g")
        if _has_phases(certificate):
            f.name, f.colour = "f", 1
            add_series(drawing, panel, rows, "g", theta, g, colour=0, thin=np.allclose(f.y, g))  # else it hides f
        else:
            f.name, f.colour, f.y = "g", 0, g
        # These names are in docs/explanation/theory.md, too; `szego verify --check` knows them.
        if sides.name[0] in ("max|f|", "max|f| with phases theta_i") and sides.agree():
            panel.rules.append(Line(_set(sides.name[1]), sides.middle(1)))
            if (np.concatenate([rows.numbers("f"), g]) < 0).any():
                panel.rules.append(Line(None, -sides.middle(1)))
        panel.name = str(sides)
        drawing.sources.append(certificate)
    if any(one.name == "g" and not one.thin for one in drawing.series()):
        for one in drawing.series():
            one.unlisted = one.thin


def _say_curves(certificates, drawing):
    """"max|f| > max|g|: 14 against 12.25, one of 2 certificates": the first one about f is told."""
    drawn = [_certificate(certificates, panel.rows) for panel in drawing.panels]
    sides = Sides.of(next(filter(_has_phases, drawn), drawn[0]))
    text = f"{sides}: {words.number(sides.middle(0))} against {words.number(sides.middle(1))}"
    text += "" if sides.agree() else ", which its enclosures do not show"
    text += f", one of {len(drawn)} certificates." if len(drawn) > 1 else "."
    alone = sum(not _has_phases(one) for one in drawn)
    return text + (f" {words.count(alone, 'panel is', 'panels are')} about g alone." if 0 < alone < len(drawn) else "")


CURVES = Figure("claims-curves", ("verify_samples",), panel_by=("certificate",),
                x=Axis("theta", label="t in radians", lo=0, hi=2 * np.pi), y=Axis("f", label="f(t), g(t)"),
                subject=lambda rows: words.clipped(rows.text("id"), NAME),
                title="f and g of each counterexample", remark="`g` is `f` with every `theta_i = 0`.")


def curves(samples, certificates):
    """(a note on samples of no certificate or None, the figure or None)."""
    place = samples.numbers("certificate")
    drawn = samples.pick((place >= 0) & (place < len(certificates)))
    note = None
    if len(drawn) < len(samples):
        gone = len(samples) - len(drawn)
        note = Paragraph(f"{gone} sample{' is' if gone == 1 else 's are'} of no certificate here.", sources=[samples])
    if not len(drawn):
        return note, None
    return note, build(replace(CURVES, prepare=partial(_prepare, certificates),
                               caption=partial(_say_curves, certificates)), drawn)
