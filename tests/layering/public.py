#!/usr/bin/env python3
"""Every function of include/szego is named by the program, an example, the Python package or a page,
and docs/reference/c-api.md tells the truth: it lists each by its header, and shows lines of the examples.
Every type of include/szego is needed by a public function, every heading has something below it, and
nothing there names what is the house's own (szgi_).
usage: public.py SOURCE"""
import pathlib
import re
import sys

LIST = "## All functions, by header"
USERS = ("analysis/*.c", "analysis/*.h", "examples/*.c", "docs/**/*.md", "notebooks_export/python/**/*.py")

TYPE = re.compile(r"^typedef (?:struct|enum) \w+(?: \{(?:[^\n]*|\n.*?\n)\})? (?P<name>\w+);"
                  r"|^typedef [^;{}]*?\b(?P<function>\w+)\([^;]*;", re.MULTILINE | re.DOTALL)
EMPTY = re.compile(r"(/\* ---- (?:(?!\*/).)*\*/)\s*(?=/\* ---- |SZG_END_DECLS)", re.DOTALL)


def code(header):
    return re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)


def headers_of(source):
    """By name; version.h is made from version.h.in."""
    return {path.name.removesuffix(".in"): path for path in sorted((source / "include/szego").glob("*.h*"))}


def functions(header):
    text = code(header)
    names = dict.fromkeys(re.findall(r"\b(szg_\w+)\s*\(", text))
    return [name for name in names if not re.search(rf"typedef[^;]*\b{name}\s*\(", text)]


def stranded(headers):
    """Types that no function takes or gives, not inside another type either."""
    text = "\n".join(map(code, headers))
    types = {}
    for match in TYPE.finditer(text):
        name = match["name"] or match["function"]
        types[name] = types.get(name, "") + match[0]
    reached, rest = set(), TYPE.sub("", text)
    while rest:
        found = {name for name in set(re.findall(r"\bszg_\w+", rest)) & types.keys() if name not in reached}
        reached |= found
        rest = "\n".join(types[name] for name in found)
    return sorted(types.keys() - reached)


def misplaced(headers):
    """What only the house has a use for."""
    for name in stranded(headers):
        yield f"include/szego: no public function needs the type {name}: it belongs into a header of its room"
    for header in headers:
        text = header.read_text()
        for heading in EMPTY.findall(text):
            yield f"{header.name}: nothing stands below the heading {heading}"
        for name in sorted(set(re.findall(r"\bszgi_\w+|\bSZGI_\w+", text))):
            yield f"{header.name} names {name}, which users do not have"


def untrue(page, listed, examples):
    """What the page says that the headers and the examples do not."""
    rows = dict(re.findall(r"^\| `(\w+\.h)` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE))
    for header, names in listed.items():
        if names and re.findall(r"`(\w+)`", rows.get(header, "")) != names:
            yield f"docs/reference/c-api.md: the row of {header} should be: {', '.join(f'`{name}`' for name in names)}"
    shown = re.findall(r"\(`examples/(\w+\.c)`\)(?:(?!\n## ).)*?```c\n(.*?)```", page, re.DOTALL)
    for name, lines in shown:
        if lines not in (examples / name).read_text():
            yield f"docs/reference/c-api.md: its lines of examples/{name} are not there"
    for example in sorted(examples.glob("*.c")):
        if example.name not in dict(shown):
            yield f"docs/reference/c-api.md does not show examples/{example.name}"


def audit(source):
    """Public functions by header, and those that nobody names; the list of all functions names none."""
    words = {word for users in USERS for path in source.glob(users)
             for word in re.findall(r"\bszg_\w+", path.read_text().split(LIST)[0])}
    listed = {name: functions(header) for name, header in headers_of(source).items()}
    return listed, [name for names in listed.values() for name in names if name not in words]


def main():
    source = pathlib.Path(sys.argv[1])
    listed, unused = audit(source)
    count = sum(map(len, listed.values()))
    print(f"{len(listed)} public headers, {count} functions, {len(unused)} without a user")
    wrong = [f"{name} has no user" for name in unused]
    wrong += misplaced(headers_of(source).values())
    wrong += untrue((source / "docs/reference/c-api.md").read_text(), listed, source / "examples")
    print("\n".join(wrong))
    return 0 if count and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
