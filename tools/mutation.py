"""Places in C sources where a small change should make a test fail, for tools/mutants.

Only bodies of functions are looked at. Comments, texts, preprocessor lines, types, array sizes,
enumerators and static tables have no places.
"""
import collections
import dataclasses
import random
import re

TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
  | (?P<text>(?:u8|[LuU])?(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\S)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

FLIPS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
         "==": ("!=",), "!=": ("==",)}
TYPE_WORDS = {"const", "static", "unsigned", "signed", "struct", "union", "enum", "typedef", "extern",
              "volatile", "register", "char", "short", "int", "long", "float", "double", "void", "bool"}
NO_VALUES = {"static", "struct", "union", "enum", "typedef", "extern", "_Static_assert"}
# A statement that begins with one of these, followed by a name, is not a declaration.
VERBS = {"return", "goto", "break", "continue", "case", "default", "else", "do"}
IDENTITY = ("kind", "function", "text", "ordinal", "occurrence", "of", "original")
KINDS = ("comparison", "statement", "constant")


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change. The text at its place identifies it, so that it is found after lines have moved:
    the `occurrence`-th of `of` places of this kind in `function` with the same `text` (the statement,
    or the line without comments) and the same `ordinal` on the line."""
    kind: str
    file: str
    line: int
    function: str
    text: str
    ordinal: int
    occurrence: int
    of: int
    original: str
    replacement: str
    start: int = dataclasses.field(compare=False)
    end: int = dataclasses.field(compare=False)

    @property
    def room(self):
        return self.file.split("/")[1]

    def apply(self, source):
        return source[:self.start] + self.replacement + source[self.end:]


def tokens_of(source):
    """The tokens of a file without comments and preprocessor lines, and the source with those blank."""
    tokens, code = [], list(source)
    for match in TOKEN.finditer(source):
        if match.lastgroup in ("comment", "directive"):
            for at in range(match.start(), match.end()):
                if code[at] != "\n":
                    code[at] = " "
        else:
            tokens.append(Token(match.lastgroup, match.group(), match.start(), match.end()))
    return tokens, "".join(code)


def closing(tokens, at):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i].kind == "sign":
            depth += (tokens[i].text in "([{") - (tokens[i].text in ")]}")
            if depth == 0:
                return i
    raise ValueError(f"{tokens[at].text} at offset {tokens[at].start} is never closed")


def functions_of(tokens):
    """(name, first, end) of each function's body, as indices of tokens."""
    at = 0
    while at < len(tokens):
        if tokens[at].text in ("(", "{"):
            close = closing(tokens, at)
            if tokens[at].text == "(" and close + 1 < len(tokens) and tokens[close + 1].text == "{":
                end = closing(tokens, close + 1)
                yield tokens[at - 1].text, close + 2, end
                close = end
            at = close
        at += 1


def is_declaration(tokens):
    """Whether a statement's tokens declare something: a type's word, or two names side by side."""
    first = tokens[0]
    if first.kind != "name" or first.text in VERBS:
        return False
    if first.text in TYPE_WORDS or first.text in NO_VALUES:
        return True
    after = next((token for token in tokens[1:] if token.text != "*"), None)
    return after is not None and after.kind == "name"


class Body:
    """Walks through the statements of one function and collects its places (kind, tokens)."""

    def __init__(self, tokens, first, end):
        self.tokens, self.at, self.end, self.places = tokens, first, end, []
        while self.at < self.end:
            self.statement()

    def text(self, offset=0):
        at = self.at + offset
        return self.tokens[at].text if at < self.end else ""

    def statement(self):
        word = self.text()
        if word in ("{", "}", "else", "do", ";"):
            self.at += 1
        elif word in ("if", "while", "for", "switch"):
            close = closing(self.tokens, self.at + 1)
            self.values(self.at + 2, close)
            self.at = close + 1
        elif word in ("case", "default"):
            self.label()
        elif self.tokens[self.at].kind == "name" and self.text(1) == ":":
            self.at += 2
        else:
            self.simple()

    def label(self):
        colon = next(i for i in range(self.at, self.end) if self.tokens[i].text == ":")
        self.values(self.at + 1, colon)
        self.at = colon + 1

    def simple(self):
        """A statement up to its semicolon."""
        start = self.at
        while self.at < self.end and self.text() != ";":
            self.at = closing(self.tokens, self.at) if self.text() in ("(", "[", "{") else self.at
            self.at += 1
        tokens = self.tokens[start:self.at + 1]
        if not is_declaration(tokens):
            self.places.append(("statement", tokens))
            self.values(start, self.at)
        elif not any(token.text in NO_VALUES for token in tokens):
            self.initialisers(start, self.at)
        self.at += 1

    def initialisers(self, start, end):
        """What stands right of `=` in a declaration."""
        at = begin = start
        given = False
        while at < end:
            text = self.tokens[at].text
            if text == "=" and not given:
                given, begin = True, at + 1
            elif text == "," and given:
                self.values(begin, at)
                given = False
            elif text in ("(", "[", "{"):
                at = closing(self.tokens, at)
            at += 1
        if given:
            self.values(begin, end)

    def values(self, start, end):
        for token in self.tokens[start:end]:
            if token.kind == "sign" and token.text in FLIPS:
                self.places.append(("comparison", [token]))
            elif token.kind == "number":
                self.places.append(("constant", [token]))


def other_constants(text):
    """A whole number's neighbours; half and double of a real one; 1 for 0."""
    whole = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[1-9]\d*|0)([uUlL]*)", text)
    if whole:
        value, suffix = int(whole[1], 0), whole[2]
        shown = hex if whole[1][:2] in ("0x", "0X") else str
        return tuple(shown(near) + suffix for near in (value + 1, value - 1) if near >= 0)
    zero = re.fullmatch(r"[0.]+([fFlL]?)", text)
    if zero:
        return ("1.0" + zero[1],)
    if re.fullmatch(r"0\d+[uUlL]*", text): # octal
        return (f"({text} + 1)", f"({text} - 1)")
    return (f"(2 * {text})", f"({text} / 2)")


def replacements(kind, original):
    if kind == "comparison":
        return FLIPS[original]
    return (";",) if kind == "statement" else other_constants(original)


def squeezed(text):
    return " ".join(text.split())


def mutants_of(source, file):
    """Every mutant of a file, in the order of its text."""
    tokens, code = tokens_of(source)
    lines = code.split("\n")
    found = []
    for function, first, end in functions_of(tokens):
        ordinals, same = collections.Counter(), collections.Counter()
        places = []
        for kind, part in Body(tokens, first, end).places:
            start, stop = part[0].start, part[-1].end
            line = code.count("\n", 0, start)
            original = squeezed(code[start:stop])
            text = original if kind == "statement" else squeezed(lines[line])
            ordinal = 0 if kind == "statement" else ordinals[kind, line]
            ordinals[kind, line] += 1
            key = kind, text, ordinal
            places.append((key, same[key], line + 1, original, start, stop))
            same[key] += 1
        for (kind, text, ordinal), occurrence, line, original, start, stop in places:
            for replacement in replacements(kind, original):
                found.append(Mutant(kind, file, line, function, text, ordinal, occurrence,
                                    same[kind, text, ordinal], original, replacement, start, stop))
    return sorted(found, key=lambda mutant: mutant.start)


def sources_of(tree):
    return sorted(str(path.relative_to(tree)) for path in (tree / "lib").glob("*/**/*.c"))


class Drawer:
    """The k-th mutant of a seed: a line of code in lib/, one of the kinds that it offers, a place."""

    def __init__(self, tree, seed, rooms=()):
        self.seed, self.lines, self.total = seed, {}, 0
        for file in sources_of(tree):
            for mutant in mutants_of((tree / file).read_text(), file):
                if not rooms or mutant.room in rooms:
                    self.total += 1
                    self.lines.setdefault((file, mutant.line), []).append(mutant)
        self.keys = list(self.lines)
        if not self.keys:
            raise SystemExit(f"mutants: {tree}/lib has no code{' in ' + ', '.join(rooms) if rooms else ''}")

    def draw(self, k):
        random_draw = random.Random(f"{self.seed}:{k}")
        here = self.lines[random_draw.choice(self.keys)]
        kind = random_draw.choice([kind for kind in KINDS if any(m.kind == kind for m in here)])
        place = random_draw.choice(sorted({m.start for m in here if m.kind == kind}))
        return random_draw.choice([m for m in here if m.kind == kind and m.start == place])


def find_again(tree, old):
    """The same change in another tree: in its file, or in the one other file that has the function
    with this text. None if the text is gone or occurs another number of times."""
    def places(file):
        source = (tree / file).read_text() if (tree / file).is_file() else ""
        if old.function not in source:
            return []
        same = [m for m in mutants_of(source, file) if all(getattr(m, n) == getattr(old, n) for n in IDENTITY)]
        return [dataclasses.replace(m, replacement=old.replacement) for m in same[:1]]
    here = places(old.file) or [m for file in sources_of(tree) for m in places(file)]
    return here[0] if len(here) == 1 else None
