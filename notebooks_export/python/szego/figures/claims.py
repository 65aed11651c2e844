"""The ledger of the paper's claims: a row a claim, which opens to the evidence for its verdict."""
import math
import re

import numpy as np

from . import certificates, lemma, words
from .drawing import Finding, Grid, Heading, Listing, Paragraph
from .record import Section

RESULTS, CLAIMS, CHARACTERS, NAME, LEMMA = 4, 100, 400, 60, 2
#: The sign of a verdict, and its role among the colours.
VERDICTS = {"holds": ("✓", "holds"), "fails": ("✗", "fails"), "vacuous": ("∅", None),
            "conditional": ("◐", None), "measured": ("≈", None), "none": ("?", "unknown")}
#: Whose claims they are, by their kind.
KINDS = {"paper": "the paper's {} statement", "reading": "our {} reading", "correction": "our {} correction"}
EVIDENCE = ("quantity", "lo", "hi", "note")


# ---- Words ----

def _prose(text):
    """At most so many characters of prose; its formulas, in backquotes, stay whole."""
    if not text or len(text) <= CHARACTERS:
        return text or ""
    cut = text[:CHARACTERS]
    if cut.count("`") % 2:
        cut = cut[:cut.rindex("`")]
    return cut + "\N{HORIZONTAL ELLIPSIS}"


def _verdict(text):
    """"✓ holds"."""
    return f"{VERDICTS.get(text, VERDICTS['none'])[0]} {words.clipped(text or 'not given', NAME)}"


def _say_kinds(claims):
    """"6 of the paper's 13 statements, 7 of our 8 readings": which claims fail, by the kind that is in the table."""
    fails, kinds = claims.texts("verdict") == "fails", claims.texts("kind")
    found = [(name, fails[kinds == kind]) for kind, name in KINDS.items() if (kinds == kind).any()]
    others = fails[[kind not in KINDS for kind in kinds]]
    parts = [f"{own.sum()} of {name.format(len(own))}{'' if len(own) == 1 else 's'}" for name, own in found]
    return parts + ([f"{others.sum()} of {len(others)} without a kind"] if found and len(others) else [])


def _say_verdicts(claims, several):
    """"13 of 26 claims fail: 6 of the paper's 13 statements, 7 of our 8 readings; the others: holds 13."""
    counts = {}
    for verdict in claims.texts("verdict"):
        counts[verdict] = counts.get(verdict, 0) + 1
    fails, total = counts.pop("fails", 0), words.count(len(claims), "claim", "claims")
    said = ", ".join(f"{words.clipped(verdict or 'not given', NAME)} {count}" for verdict, count in counts.items())
    if fails:
        text = f"{fails} of {total} {'fails' if fails == 1 else 'fail'}"
        kinds = _say_kinds(claims)
        text += (f": {', '.join(kinds)}" if kinds else "") + (f"; the others: {said}" if said else "")
    else:
        text = f"Verdicts on {total}: {said}"
    return text + (f" ({words.clipped(claims.text('result'), NAME)})." if several else ".")


# ---- What a row opens to ----

def _terms(claim):
    trials, margin = claim.number("trials"), claim.number("worst_margin")
    cells = [(name, words.clipped(claim.text(name), CHARACTERS)) for name in ("kind", "source", "basis")
             if claim.text(name)]
    if trials > 0:
        cells.append(("trials", f"{trials:.0f}"))
    if not math.isnan(margin):  # a guaranteed lower end
        cells.append(("worst margin", (f"at least {words.lower(margin, 4)}", words.exact(margin))))
    if claim.text("note"):
        cells.append(("note", words.clipped(claim.text("note"), CHARACTERS)))
    return cells


class _Ledger:
    """The claims of one result, the tables beside them, and how many figures may be drawn."""

    def __init__(self, tables, claims, most):
        self.claims, self.left, self.left_out = claims, most, 0
        self.beside = {name: self._own(tables.rows(f"verify_{name}"))
                       for name in ("certificates", "samples", "evidence")}
        self.by_claim = {name: {one.text("id"): one for one in rows.split_by(rows.texts("id"))}
                         for name, rows in self.beside.items()}
        self.trials = self._own(tables.rows("verify_lemma"))

    def _own(self, rows):
        """Those of the ledger's result."""
        return rows.pick(rows.texts("result") == self.claims.text("result")) if rows.has("result") else rows

    def _find(self, name, claim):
        return self.by_claim[name].get(claim.text("id"), self.beside[name].pick(np.zeros(0, int)))

    def sources(self):
        """What the ledger shows: its claims, and the tables beside them."""
        return [self.claims] + [rows for rows in self.beside.values() if len(rows)]

    def opens(self, claim):
        """The blocks on one claim, in order."""
        verdict, certified = claim.text("verdict"), self._find("certificates", claim)
        if verdict == "holds" and claim.text("true_statement"):
            yield Paragraph(f"Precisely: {_prose(claim.text('true_statement'))}", formulas=True)
        if _terms(claim):
            yield Grid(("term", "value"), _terms(claim))
        if len(certified):
            yield from certificates.blocks(certified, claim)
        elif verdict in ("fails", "conditional"):
            yield Paragraph("These results hold no certificate of it.")
        yield from self._curves(self._find("samples", claim), certified)
        if len(self._find("evidence", claim)):
            yield Heading("Evidence")
            yield Listing(self._find("evidence", claim), EVIDENCE)

    def _curves(self, samples, certified):
        if not len(samples):
            return
        note, drawing = certificates.curves(samples, certified)
        if note:
            yield note
        if drawing and self.left > 0:
            self.left -= 1
            yield drawing
        elif drawing:
            self.left_out += 1
            yield Paragraph("The figure of its samples is left out.", sources=[samples])


def _ids(claims, result):
    """claim-ID, of the first result; of others, and of an ID that comes twice, with result and row behind it."""
    seen, made = set(), []
    for i, text in enumerate(claims.texts("id")):
        name = re.sub(r"[^A-Za-z0-9.]", "_", (text or "")[:47])
        made.append(f"claim-{name}-{result}-{i}" if result or name in seen else f"claim-{name}")
        seen.add(name)
    return made


def _grid(ledger, result):
    claims = ledger.claims
    shown = [claims.pick([i]) for i in range(min(len(claims), CLAIMS))]
    cells = [(words.clipped(claim.text("id"), NAME), _prose(claim.text("statement")) or "(no statement)",
              # What is true of a claim that holds does not differ from it: it explains it, below.
              "" if claim.text("verdict") == "holds" else _prose(claim.text("true_statement")),
              _verdict(claim.text("verdict"))) for claim in shown]
    return Grid(("claim", "statement", "what is true instead", "verdict"), cells,
                classes=[VERDICTS.get(claim.text("verdict"), VERDICTS["none"])[1] for claim in shown],
                sources=ledger.sources(), formulas=(False, True, True, False), id=f"claims-ledger-{result + 1}",
                ids=_ids(claims, result)[:CLAIMS], opens=[list(ledger.opens(claim)) for claim in shown], chosen_by=3)


# ---- The section ----

def _verdict_on_widths(claims):
    found = claims.where("id", "L3")
    return found.text("verdict") if len(found) else None


def _compose(section, tables):
    results = tables.rows("verify_claims").split("result")
    left, left_out = section.most, 0
    for i, claims in enumerate(results[:RESULTS]):
        if len(results) > 1:
            yield Heading(f"Results of {words.clipped(claims.text('result') or 'unnamed', NAME)}")
        kept = min(left, LEMMA)  # for the lemma's trials
        ledger = _Ledger(tables, claims, left - kept)
        yield _grid(ledger, i)
        if len(claims) > CLAIMS:
            more = words.count(len(claims) - CLAIMS, "more claim", "more claims")
            yield Paragraph(f"And {more}, in the table {claims.table}.")
        yield Finding(_say_verdicts(claims, len(results) > 1), f"claims-ledger-{i + 1}")
        left, left_out = ledger.left + kept, left_out + ledger.left_out
        if len(ledger.trials):
            made, more = lemma.blocks(ledger.trials, _verdict_on_widths(claims), left)
            left, left_out = left - sum(hasattr(block, "panels") for block in made), left_out + more
            yield from made
    if len(results) > RESULTS:
        yield Paragraph(f"The ledgers of {len(results) - RESULTS} more results are left out; their rows are in the "
                        "table verify_claims.", sources=results[RESULTS:])
    if left_out:
        yield Paragraph(f"{words.count(left_out, 'more figure is', 'more figures are')} left out; their rows are in "
                        "the tables verify_samples and verify_lemma.")


SECTION = Section(
    "claims", "The ledger of claims", ("verify_claims",),
    "The paper's claims, our readings of them, and our corrections. The evidence for a verdict stands inside its row on "
    "a page, and below the table in a notebook.",
    compose=_compose, is_present=lambda tables: len(tables.rows("verify_claims")) > 0
    and tables.rows("verify_claims").has("id"))
