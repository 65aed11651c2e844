#!/usr/bin/env python3
"""Every link, anchor and picture of the Markdown pages leads somewhere, and every page of docs/ that a source
file or a page mentions exists. Prints TAP.

usage: links.py SOURCE
"""
import pathlib
import re
import sys
import tempfile

LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|srcset|href)=\"([^\"]+)\"")
MENTION = re.compile(r"(?<![\w./-])docs/[\w./-]*\w")
NAME = re.compile(r"(?<![\w./*{}-])[\w-]+\.md\b")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CONFIGURATION = re.compile(r"\bszego train ([\w./-]+\.json)\b")
FOLDERS = ("analysis", "bench", "cuda", "docs", "examples", "fuzz", "include", "lib", "notebooks_export", "presets",
           "tests", "tools", "train")
# What a test makes up, and where results will be.
ABSENT = {"docs/a.md", "docs/results/full"}
# A change log tells of pages that were, these tests of pages that they make.
APART = {"CHANGELOG.md", "links.py", "test_prose.py"}


def shown(heading):
    """The text of a heading: a link's words, no marks of code or emphasis."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[`*]", "", text)


def anchors(text):
    """As GitHub makes them: small letters, no punctuation, a hyphen for each blank, a number for each repetition."""
    seen, found = {}, set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        slug = re.sub(r"[^\w\- ]", "", shown(heading).lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if slug in seen else slug)
        seen[slug] = seen.get(slug, 0) + 1
    return found | set(re.findall(r"\b(?:id|name)=\"([^\"]+)\"", text))


def dead_links(root, page):
    for match in LINK.finditer(FENCE.sub("", page.read_text(encoding="utf-8"))):
        link = match[1] or match[2]
        if re.match(r"[a-z][a-z+.-]*:", link):
            continue
        name, _, anchor = link.partition("#")
        goal = (page.parent / name).resolve() if name else page
        if root not in goal.parents:
            yield f"{page.relative_to(root)}: {link}: outside the tree"
        elif not goal.exists():
            yield f"{page.relative_to(root)}: {link}: there is no such file"
        elif anchor and (goal.suffix != ".md" or anchor not in anchors(goal.read_text(encoding="utf-8"))):
            yield f"{page.relative_to(root)}: {link}: there is no such heading"


def dead_mentions(root, path, pages):
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    for name in sorted(set(MENTION.findall(text)) - ABSENT):
        if not (root / name).exists():
            yield f"{path.relative_to(root)} mentions {name}, which does not exist"
    if path.suffix == ".md":
        for name in sorted(set(CONFIGURATION.findall(text))):
            if not (root / name).exists():
                yield f"{path.relative_to(root)} trains {name}, which does not exist"
    for name in sorted(set(NAME.findall(text)) - pages):
        yield f"{path.relative_to(root)} mentions {name}: no page has that name"


def sources(root):
    """Files by hand: at the top, and in the folders of the tree."""
    yield from sorted(path for path in root.iterdir() if path.is_file())
    for folder in FOLDERS:
        yield from sorted(path for path in (root / folder).rglob("*")
                          if path.is_file() and "__pycache__" not in path.parts)


def dead(root):
    pages = {path.name for path in sources(root) if path.suffix == ".md"}
    for path in sources(root):
        if path.suffix == ".md":
            yield from dead_links(root, path)
        if path.name not in APART:
            yield from dead_mentions(root, path, pages)


def finds_what_is_dead():
    """A page with one link of each kind that is alive, and one of each that is dead."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        for name in FOLDERS:
            (root / name).mkdir()
        (root / "docs/a.md").write_text("# One `two`, [three](b.md)\n# One two three\n```\n# four\n```\n")
        (root / "docs/here.md").write_text(
            "# Here\n[a](#here) [b](https://example.org/x.md) [c](../lib) `docs/here.md`\n"
            "```\n[not a link](nowhere.md)\n```\n<img src=\"none.png\">\n"
            "[d](#there) [e](a.md#four) [f](gone.md) [g](../../x)\n")
        (root / "docs/b.md").write_text("[a](a.md#one-two-three) [b](a.md#one-two-three-1) [c](a.md#one-two-three-2)\n")
        (root / "docs/c.md").write_text("    szego train docs/x.json -o a/\n    szego train gone.json -o a/\n")
        (root / "docs/x.json").write_text("{}")
        (root / "lib/x.c").write_text("/* docs/here.md, docs/old/page.md, here.md, there.md */\n")
        found = list(dead(root))
    want = ["docs/b.md: a.md#one-two-three-2: there is no such heading",
            "docs/c.md trains gone.json, which does not exist", "docs/here.md: none.png: there is no such file",
            "docs/here.md: #there: there is no such heading", "docs/here.md: a.md#four: there is no such heading",
            "docs/here.md: gone.md: there is no such file", "docs/here.md: ../../x: outside the tree",
            "docs/here.md mentions gone.md: no page has that name", "docs/here.md mentions nowhere.md: no page has that name",
            "lib/x.c mentions docs/old/page.md, which does not exist", "lib/x.c mentions there.md: no page has that name"]
    return found == want, found


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    wrong = list(dead(root))
    pages = sum(path.suffix == ".md" for path in sources(root))
    works, found = finds_what_is_dead()
    print("1..3")
    print("ok 1 - dead links, headings and mentions are found" if works else f"not ok 1 - found {found}")
    print(f"{'ok' if pages > 20 else 'not ok'} 2 - {pages} pages were read")
    print(f"{'not ok' if wrong else 'ok'} 3 - every link and mention leads somewhere")
    for line in wrong:
        print(f"# {line}")
    return 0 if works and pages > 20 and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
