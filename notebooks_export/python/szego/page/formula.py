"""Formulas in prose, as MathML.

A text that people read holds its formulas between backquotes, in one source form that is plain ASCII. A formula has
numbers, letters, words and signs. `_` and `^` take a run of letters and digits, a sign, or a group in braces; words
that have a sign are written out (theta, sum, inf, o); `bar` behind a letter sets a bar over it; any other word is text.
lib/base/formula.h describes the same form, which the program shows on terminals.
"""
import re

from ..markup import escaped

LONGEST, DEPTH, NODES = 256, 8, 512

LETTERS = {"theta": "θ", "alpha": "α", "beta": "β", "rho": "ρ", "lambda": "λ", "sigma": "σ", "omega": "ω", "pi": "π",
           "inf": "∞"}
NAMES = {name: name for name in ("max", "min", "cos", "sin", "exp", "ln", "rank", "mod", "conj", "Re", "Im")}
SIGNS = {"sum": "∑", "o": "∘", "iff": "⟺", "<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "+-": "±", "...": "…", "~": "∼",
         "-": "−"}
WRITTEN = {**{word: ("mi", sign) for word, sign in LETTERS.items()},
           **{word: ("name", sign) for word, sign in NAMES.items()},
           **{word: ("mo", sign) for word, sign in SIGNS.items()}}
_PIECE = re.compile(r"`([ -_a-~]{1,256})`")


class _TooMuch(ValueError):
    """A formula that is too long, too deep, or has a brace that nothing closes."""


class _Atom:
    """One thing with its scripts: `kind` is a MathML element, "name" (an upright function) or "space"."""

    def __init__(self, kind, text, bar=False):
        self.kind, self.text, self.bar = kind, text, bar
        self.below = self.above = None


class _Reader:
    """A recursive descent over one formula."""

    def __init__(self, text):
        self.text, self.at, self.depth, self.count = text, 0, 0, 0

    def atom(self, kind, text, length, bar=False):
        self.count += 1
        if self.count > NODES:
            raise _TooMuch
        self.at += length
        return _Atom(kind, text, bar)

    def rest(self, pattern):
        return re.compile(pattern, re.ASCII).match(self.text, self.at).group()

    def word(self):
        found = self.rest("[A-Za-z]+")
        bar = len(found) > 3 and found.endswith("bar")
        stem = found[:-3] if bar else found
        kind, sign = WRITTEN.get(stem, ("mi" if len(stem) == 1 else "mtext", stem))
        return self.atom(kind, sign, len(found), bar)

    def single(self):
        """One thing without its scripts; something is left."""
        byte = self.text[self.at]
        if byte == " ":
            return self.atom("space", "", len(self.rest(" +")))
        if byte.isalpha():
            return self.word()
        if byte.isdigit():
            digits = self.rest("[0-9.]+")
            return self.atom("mn", digits, len(digits))
        length = next((n for n in (3, 2) if self.text[self.at:self.at + n] in SIGNS and self.at + n <= len(self.text)), 1)
        found = self.text[self.at:self.at + length]
        return self.atom("mo", SIGNS.get(found, found), length)

    def run(self):
        """Letters one by one, so that ij is i and j, unless all of them are one sign."""
        row, letters = [], self.rest("[A-Za-z]*")
        end = self.at + len(self.rest("[A-Za-z0-9]*"))
        if letters in WRITTEN:
            row.append(self.word())
        while self.at < end:
            digits = self.rest("[0-9]*")
            row.append(self.atom("mn", digits, len(digits)) if digits else self.atom("mi", self.text[self.at], 1))
        return row

    def script(self):
        """What stands behind _ or ^."""
        self.at += 1
        if self.at == len(self.text) or self.text[self.at] == " ":
            raise _TooMuch
        if self.text[self.at] == "{":
            self.at += 1
            return self.row(braced=True)
        return self.run() if self.text[self.at].isalnum() else [self.single()]

    def scripts(self, base):
        while self.at < len(self.text) and self.text[self.at] in "_^":
            place = "below" if self.text[self.at] == "_" else "above"
            if getattr(base, place) is not None:
                return
            setattr(base, place, self.script())

    def row(self, braced=False):
        """Up to the end, or to the brace that closes it. A brace within is a sign that another closes."""
        row, opened = [], 0
        self.depth += 1
        if self.depth > DEPTH:
            raise _TooMuch
        while self.at < len(self.text):
            byte = self.text[self.at]
            if braced and byte == "}" and opened == 0:
                break
            opened += {"{": 1, "}": -1}.get(byte, 0)
            atom = self.single()
            if atom.kind != "space":
                self.scripts(atom)
            row.append(atom)
        if braced:
            if self.at >= len(self.text):
                raise _TooMuch
            self.at += 1
        self.depth -= 1
        return row


# ---- Writing ----

def _element(atom):
    # Fences of one line stay as high as the line, and a bar stands close on both of its sides.
    look = {"|": ' stretchy="false" lspace="0" rspace="0"'}.get(atom.text, "") if atom.kind == "mo" else ""
    if atom.kind == "mo" and atom.text in tuple("()[]{}"):
        look = ' stretchy="false"'
    kind = "mi" if atom.kind == "name" else atom.kind
    inner = f"<{kind}{look}>{escaped(atom.text)}</{kind}>"
    return f"<mover>{inner}<mo>¯</mo></mover>" if atom.bar else inner


def _scripted(atom):
    groups = [f"<mrow>{_row(part)}</mrow>" for part in (atom.below, atom.above) if part is not None]
    around = {(True, True): "msubsup", (True, False): "msub", (False, True): "msup"}.get(
        (atom.below is not None, atom.above is not None))
    inner = _element(atom) + "".join(groups)
    return f"<{around}>{inner}</{around}>" if around else inner


def _row(row):
    """MathML sets no space of its own beside an upright word."""
    upright = [atom.kind in ("name", "mtext") for atom in row] + [False]
    out = []
    for i, atom in enumerate(row):
        if atom.kind != "space":
            out.append(_scripted(atom))
        elif i and upright[i - 1] or upright[i + 1]:
            out.append('<mspace width="0.2em"/>')
    return "".join(out)


def mathml(source):
    """A <math> element; the source, escaped, of a formula that is too long or too deep to be set."""
    try:
        if len(source) > LONGEST:
            raise _TooMuch
        return f"<math>{_row(_Reader(source).row())}</math>"
    except _TooMuch:
        return escaped(source)


def pieces(text):
    """(text, is a formula) of a prose text, in order. A backquote without a partner is prose."""
    at = 0
    for found in _PIECE.finditer(text):
        if found.start() > at:
            yield text[at:found.start()], False
        yield found.group(1), True
        at = found.end()
    if at < len(text):
        yield text[at:], False
