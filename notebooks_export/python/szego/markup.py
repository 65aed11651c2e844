"""Texts of files where HTML is read: hostile names are shown, and nothing in them is markup."""
import re

#: Characters that are shown at most: of a column's meaning, of a paragraph.
MEANING, PARAGRAPH = 1000, 20000
# Controls other than tab and line feed, and characters that are not seen but turn or break the line.
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
# Noncharacters and surrogates: a parse error in HTML.
_FORBIDDEN = re.compile("[\ud800-\udfff\ufdd0-\ufdef" + "".join(chr(plane + end) for plane in range(0, 0x110000, 0x10000)
                                                                for end in (0xfffe, 0xffff)) + "]")


def _shown(found):
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def visible(value, characters=PARAGRAPH):
    """The text with control characters and marks of direction made visible, cut behind so many characters."""
    text = "" if value is None else str(value)
    cut = len(text) > characters
    text = _HIDDEN.sub(_shown, _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text[:characters]))
    return text + "\N{HORIZONTAL ELLIPSIS}" if cut else text


def escaped(text):
    """A text between tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").replace("'", "&#39;")
