"""What the tests of pages share: a page taken apart."""
import html.parser
import re

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Parsed(html.parser.HTMLParser):
    """Elements of a page with their attributes; whether each is closed in order."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.wrong = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def loose_signs(text):
    """Places where a "<" of a text begins no tag; scripts and styles may hold some."""
    shown = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    return re.findall(r"<(?![/!a-zA-Z]).{0,40}", shown)
